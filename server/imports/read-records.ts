import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { CsvError, parse } from 'csv-parse';
import { z } from 'zod';
import type { Em } from '../database/orm.ts';
import { findDuplicateKey } from '../http/json-keys.ts';
import { restoreFormulas } from '../tasks/csv-formulas.ts';
import { chunksOf } from '../tasks/stored-file.ts';
import { TaskFailure } from '../tasks/task-failure.ts';

/** One row of a file: what stands in its columns as text, empty ones left out; or why it cannot be read. */
export type FileRecord = { readonly line: number } & (
  | { readonly cells: ReadonlyMap<string, string>; readonly mistake?: undefined }
  | { readonly cells?: undefined; readonly mistake: string }
);

const lineMax = 100_000;
const rowsInARow = 500;

/** Every row of a stored file, in order, read as it is needed. */
export async function* recordsOf(em: Em, fileId: number, format: 'csv' | 'ndjson'): AsyncGenerator<FileRecord> {
  let rows = 0;
  for await (const record of format === 'csv' ? csvRecords(em, fileId) : ndjsonRecords(em, fileId)) {
    yield record;
    rows += 1;
    // Parsing is work without a pause: now and then the requests have their turn.
    if (rows % rowsInARow === 0) await setImmediate();
  }
}

const csvRecord = z.object({ record: z.array(z.string()), info: z.object({ lines: z.number() }) });

async function* csvRecords(em: Em, fileId: number): AsyncGenerator<FileRecord> {
  const source = Readable.from(chunksOf(em, fileId), { objectMode: false });
  const parser = parse({ bom: true, info: true, relax_column_count: true, skip_empty_lines: true, max_record_size: lineMax });
  source.on('error', (error) => parser.destroy(error));
  let header: string[] | undefined;
  try {
    for await (const row of source.pipe(parser)) {
      const { record, info } = csvRecord.parse(row);
      if (header) yield { line: info.lines, ...cellsOf(header, record) };
      else header = headerOf(record);
    }
  } catch (error) {
    if (error instanceof CsvError) throw new TaskFailure('malformed_csv', error.message);
    throw error;
  } finally {
    source.destroy();
  }
}

function headerOf(record: readonly string[]): string[] {
  const names = record.map((name) => name.trim());
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new TaskFailure('duplicate_column', `The header has the column ${JSON.stringify(twice)} twice.`);
  return names;
}

type Read = { readonly cells: ReadonlyMap<string, string> } | { readonly mistake: string };

function cellsOf(header: readonly string[], record: readonly string[]): Read {
  if (record.length !== header.length) return { mistake: `The header has ${header.length} columns, this row has ${record.length}.` };
  return readAs(header.map((name, at) => [name, restoreFormulas(record[at] ?? '')]));
}

function readAs(entries: readonly (readonly [string, string])[]): Read {
  if (entries.some(([, text]) => text.includes('\0')))
    return { mistake: 'The row has the character U+0000 in it, which no text may have.' };
  return { cells: new Map(entries.map(([name, text]) => [name, text.trim()] as const).filter(([, text]) => text !== '')) };
}

async function* ndjsonRecords(em: Em, fileId: number): AsyncGenerator<FileRecord> {
  let line = 0;
  for await (const text of linesOf(chunksOf(em, fileId))) {
    line += 1;
    if (text.trim() !== '') yield { line, ...fieldsOf(text) };
  }
}

const cell = z.union([z.string(), z.number().transform(String), z.boolean().transform(String), z.null().transform(() => '')]);
const object = z.record(z.unknown());

function fieldsOf(text: string): Read {
  const read = jsonOrNothing(text);
  const parsed = object.safeParse(read);
  if (!parsed.success) return { mistake: 'The line is not a JSON object.' };
  const duplicate = findDuplicateKey(Buffer.from(text), read);
  if (duplicate !== undefined) return { mistake: `The line has one key twice in an object: ${duplicate}` };
  // Nested values are nothing a field could be; whoever maps a column to one finds it empty.
  const entries = Object.entries(parsed.data).flatMap(([name, value]) => {
    const { data } = cell.safeParse(value);
    return data === undefined ? [] : [[name, data] as const];
  });
  return readAs(entries);
}

function jsonOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: false });
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > lineMax) throw new TaskFailure('line_too_long', `A line has more than ${lineMax} characters.`);
    yield* lines;
  }
  yield rest + decoder.decode();
}
