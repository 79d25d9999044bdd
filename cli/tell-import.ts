import type { Client, Task } from '@mandate/client-sdk';
import type { Io } from './io.ts';
import { plainText } from './plain-text.ts';
import { isObject } from './schema-violations.ts';

const linesMax = 10;

/** What an import did, the first lines it has something to say about, and where the others are told. */
export async function tellImport(io: Io, client: Client, { id, params, result }: Task, report: string | undefined): Promise<void> {
  if (!result?.imported) return;
  const { created, updated, unchanged, refused } = result.imported;
  const trial = params['dry_run'] === 'true' ? 'Nothing was changed; it would be: ' : '';
  const lines = [`${trial}${created} created, ${updated} updated, ${unchanged} unchanged, ${refused} refused.`];
  if (result.rows > 0) {
    lines.push(`Remarks on lines of the file: ${result.rows}`, ...(await firstRemarks(io, client, id)));
    if (report !== undefined) lines.push(`All of them are in ${report}`);
    else if (result.rows > linesMax) lines.push(`All of them: mandate tasks result ${id} -o remarks.ndjson`);
  }
  io.stderr.write(lines.map((line) => `${plainText(line)}\n`).join(''));
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
