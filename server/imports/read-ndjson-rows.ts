import { maxImportRowBytes } from '@mandate/contract';
import { z } from 'zod';
import { findDuplicateKey } from '../http/validation/json-complexity-and-duplicate-keys.ts';
import { readStoredFileChunks } from '../tasks/stored-task-file.ts';
import { PermanentTaskError } from '../tasks/permanent-task-error.ts';
import { normalizeImportCells, type FilePosition, type ImportFileRow, type ImportFile } from './import-row-types-and-cell-normalization.ts';

type Line = { readonly text: string; readonly bytes: Buffer; readonly end: FilePosition; readonly isTerminated: boolean };

/** Reads the rows of a file with one JSON object per line. */
export async function* readNdjsonRows({ em, fileId, jsonColumns = [] }: ImportFile, from: FilePosition): AsyncGenerator<ImportFileRow> {
  for await (const line of readLines(readStoredFileChunks(em, fileId, from.bytes), from)) {
    if (line.text.trim() !== '') yield { line: line.end.lines, end: line.end, ...parseLine(line, jsonColumns) };
  }
}

const cell = z.union([z.string(), z.number().transform(String), z.boolean().transform(String), z.null().transform(() => '')]);
const object = z.record(z.unknown());

function parseLine({ text, bytes, isTerminated }: Line, jsonColumns: readonly string[]): Omit<ImportFileRow, 'line' | 'end'> {
  const read = parseJson(text);
  if (read === undefined) return { ...normalizeImportCells([], 'The line is not a JSON object.'), isCutOff: !isTerminated };
  const parsed = object.safeParse(read);
  if (!parsed.success) return normalizeImportCells([], 'The line is not a JSON object.');
  const duplicate = findDuplicateKey(bytes, read);
  const entries = Object.entries(parsed.data).flatMap(([name, value]) => {
    const { data = jsonColumns.includes(name) ? JSON.stringify(value) : undefined } = cell.safeParse(value);
    return data === undefined ? [] : [[name, data] as const];
  });
  return normalizeImportCells(
    entries,
    duplicate === undefined ? undefined : `The line contains a duplicate key in an object: ${duplicate}`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const newline = 0x0a;

async function* readLines(chunks: AsyncIterable<Buffer>, from: FilePosition): AsyncGenerator<Line> {
  let rest: Buffer = Buffer.alloc(0);
  let end = from;
  const take = (bytes: Buffer, isTerminated: boolean): Line => {
    if (bytes.length > maxImportRowBytes)
      throw new PermanentTaskError('line_too_long', `Line ${end.lines + 1} has more than ${maxImportRowBytes} bytes.`);
    end = { bytes: end.bytes + bytes.length + (isTerminated ? 1 : 0), lines: end.lines + 1 };
    const text = bytes.toString('utf8');
    return { text: end.lines === 1 ? text.replace(/^\uFEFF/, '') : text, bytes, end, isTerminated };
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, start)) {
      const line = chunk.subarray(start, at);
      yield take(rest.length === 0 ? line : Buffer.concat([rest, line]), true);
      rest = Buffer.alloc(0);
      start = at + 1;
    }
    rest = Buffer.concat([rest, chunk.subarray(start)]);
    if (rest.length > maxImportRowBytes)
      throw new PermanentTaskError('line_too_long', `Line ${end.lines + 1} has more than ${maxImportRowBytes} bytes.`);
  }
  if (rest.length > 0) yield take(rest, false);
}
