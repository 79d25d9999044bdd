import type { Client, Task } from '@mandate/client-sdk';
import { CommandFailure } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import { plainText } from '../terminal/safe-terminal-text.ts';
import { isObject } from '../contract-commands/schema-violations.ts';

const linesMax = 10;

/** What an import did, the first lines it has something to say about, and where the others are told. */
export async function tellImport(io: Io, client: Client, { id, params, result }: Task, report: string | undefined): Promise<void> {
  if (!result?.imported) return;
  const trial = params['dry_run'] === 'true' ? 'Nothing was changed; it would be: ' : '';
  const lines = [`${trial}${countsText(result.imported)}.`];
  if (result.rows > 0) {
    lines.push(`Remarks on lines of the file: ${result.rows}`, ...(await firstRemarks(io, client, id)));
    if (report !== undefined) lines.push(`All of them are in ${report}`);
    else if (result.rows > linesMax) lines.push(`All of them: mandate tasks result ${id} -o remarks.ndjson`);
  }
  io.stderr.write(lines.map((line) => `${plainText(line)}\n`).join(''));
}

/** Reports how much an import did that failed or was canceled. */
export function tellUnfinishedImport(io: Io, { status, imported, progress }: Task): void {
  if (!imported) return;
  const ended = status === 'canceled' ? 'Canceled' : 'Failed';
  io.stderr.write(`${ended} after ${progress.processed} of ${progress.total ?? 'an unknown number of'} rows: ${countsText(imported)}.\n`);
}

/** Refused rows are a failure of the command, although the task succeeded. */
export function requireNoneRefused({ id, result }: Task): void {
  const refused = result?.imported?.refused ?? 0;
  if (refused === 0) return;
  const hint = `Correct what the remarks name and import the file again: mandate tasks result ${id}`;
  throw new CommandFailure(exitCodes.inputRefused, 'rows_refused', `${refused} of the rows or orders were refused`, { hint });
}

function countsText({ created, updated, unchanged, refused, differing }: NonNullable<Task['imported']>): string {
  const before = differing > 0 ? ` (${differing} imported before with different data)` : '';
  return `${created} created, ${updated} updated, ${unchanged} unchanged, ${refused} refused${before}`;
}

async function firstRemarks(io: Io, client: Client, id: number): Promise<string[]> {
  const { stream } = await client.tasks.result(id, { signal: io.interrupted });
  const decoder = new TextDecoder();
  let text = '';
  for await (const piece of stream) {
    text += decoder.decode(piece, { stream: true });
    if (text.split('\n').length > linesMax) break;
  }
  return text.split('\n').slice(0, linesMax).filter(Boolean).map(remarkLine);
}

function remarkLine(text: string): string {
  const remark: unknown = JSON.parse(text);
  if (!isObject(remark)) return `  ${text}`;
  const { line, reference, field, detail } = remark;
  const where = [`line ${String(line)}`, typeof reference === 'string' ? `(${reference})` : '', typeof field === 'string' ? field : ''];
  return `  ${where.filter(Boolean).join(' ')}: ${String(detail)}`;
}
