import type { Client, Task } from '@mandate/client-sdk';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { sanitizeForTerminal } from '../terminal/sanitize-and-measure-terminal-text.ts';
import { isRecord } from '../schema/find-schema-violations.ts';

const maxRemarks = 10;

/** Prints the row counts of an import, the first entries of its report, and the command that downloads the complete report. */
export async function printImportSummary(
  io: CliEnvironment,
  client: Client,
  { id, params, result }: Task,
  report: string | undefined,
): Promise<void> {
  if (!result?.imported) return;
  const prefix = params['dry_run'] === 'true' ? 'Nothing was changed. The result would be: ' : '';
  const lines = [`${prefix}${formatCounts(result.imported)}.`];
  if (result.rows > 0) {
    lines.push(`Number of messages about individual lines: ${result.rows}`, ...(await readFirstRemarks(io, client, id)));
    if (report !== undefined) lines.push(`The complete report is in ${report}`);
    else if (result.rows > maxRemarks) lines.push(`Get the complete report with: mandate tasks result ${id} -o report.ndjson`);
  }
  io.stderr.write(lines.map((line) => `${sanitizeForTerminal(line)}\n`).join(''));
}

/** Prints the row counts of an import that failed or was canceled. */
export function printFailedOrCanceledImport(io: CliEnvironment, { status, imported, progress }: Task): void {
  if (!imported) return;
  const outcome = status === 'canceled' ? 'Canceled' : 'Failed';
  io.stderr.write(
    `${outcome} after ${progress.processed} of ${progress.total ?? 'an unknown number of'} rows: ${formatCounts(imported)}.\n`,
  );
}

/** Throws if the import rejected rows or orders, although its task succeeded. */
export function assertNoImportRowsRejected({ id, result }: Task): void {
  const refused = result?.imported?.refused ?? 0;
  if (refused === 0) return;
  const hint = `Correct the reported rows and import the file again. Show the report with: mandate tasks result ${id}`;
  throw new CommandError(exitCodes.inputRejected, 'rows_refused', `${refused} rows or orders were rejected`, { hint });
}

function formatCounts({ created, updated, unchanged, refused, differing }: NonNullable<Task['imported']>): string {
  const before = differing > 0 ? ` (${differing} previously imported with different data)` : '';
  return `${created} created, ${updated} updated, ${unchanged} unchanged, ${refused} rejected${before}`;
}

async function readFirstRemarks(io: CliEnvironment, client: Client, id: number): Promise<string[]> {
  const { stream } = await client.tasks.result(id, { signal: io.interrupted });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    if (text.split('\n').length > maxRemarks) break;
  }
  return text.split('\n').slice(0, maxRemarks).filter(Boolean).map(formatRemark);
}

function formatRemark(text: string): string {
  const remark: unknown = JSON.parse(text);
  if (!isRecord(remark)) return `  ${text}`;
  const { line, reference, field, detail } = remark;
  const where = [`line ${String(line)}`, typeof reference === 'string' ? `(${reference})` : '', typeof field === 'string' ? field : ''];
  return `  ${where.filter(Boolean).join(' ')}: ${String(detail)}`;
}
