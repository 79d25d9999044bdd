import { Readable } from 'node:stream';
import { importRowMax } from '@mandate/contract';
import { CsvError, parse, type Info, type Options } from 'csv-parse';
import { restoreFormulas } from '../tasks/csv-formulas.ts';
import { chunksOf } from '../tasks/stored-file.ts';
import { TaskFailure } from '../tasks/task-failure.ts';
import { cellsFrom, type FilePosition, type FileRecord, startOfFile, type StoredFile } from './file-record.ts';

type Row = { readonly cells: readonly string[]; readonly end: FilePosition; readonly isTerminated: boolean };
type Header = { readonly names: readonly string[]; readonly end: FilePosition; readonly delimiters: readonly string[] };

/** Rows of a CSV file below its header. */
export async function* csvRecords(file: StoredFile, from: FilePosition): AsyncGenerator<FileRecord> {
  const header = await readHeader(file);
  if (!header) return;
  const { names, end, delimiters } = header;
  for await (const row of csvRows(file, from.bytes > end.bytes ? from : end, delimiters)) {
    yield { line: row.end.lines, end: row.end, ...cellsOf(names, row) };
  }
}

async function readHeader(file: StoredFile): Promise<Header | undefined> {
  const delimiters = await rowDelimiters(file);
  for await (const { cells, end } of csvRows(file, startOfFile, delimiters)) {
    const names = cells.map((name) => name.trim());
    const twice = names.find((name, at) => names.indexOf(name) !== at);
    if (twice !== undefined) throw new TaskFailure('duplicate_column', `The header has the column ${JSON.stringify(twice)} twice.`);
    return { names, end, delimiters };
  }
  return undefined;
}

/** A carriage return alone ends the rows of few files, and occurs within cells of others: the first line decides. */
async function rowDelimiters({ em, fileId }: StoredFile): Promise<readonly string[]> {
  for await (const chunk of chunksOf(em, fileId)) {
    const [first] = /\r\n|\n|\r/.exec(chunk.toString('utf8').replaceAll(/"[^"]*"/g, '')) ?? [];
    return first === '\r' ? ['\r'] : ['\r\n', '\n'];
  }
  return ['\r\n', '\n'];
}

type ParsedRow = { readonly record: readonly string[]; readonly info: Info };

/** Bytes that are parsed at once: with more, their rows would live long enough to become garbage of the old generation. */
const parsedAtOnce = 16 * 1024;

const options = {
  bom: true,
  info: true,
  relax_column_count: true,
  skip_empty_lines: true,
  max_record_size: importRowMax,
} satisfies Options;

async function* csvRows({ em, fileId }: StoredFile, from: FilePosition, delimiters: readonly string[]): AsyncGenerator<Row> {
  let lastByte: number | undefined;
  const chunks = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of chunksOf(em, fileId, from.bytes)) {
      for (let start = 0; start < chunk.length; start += parsedAtOnce) {
        const part = chunk.subarray(start, start + parsedAtOnce);
        lastByte = part.at(-1);
        yield part;
      }
    }
  };
  const source = Readable.from(chunks(), { objectMode: false });
  const parser = parse({ ...options, record_delimiter: [...delimiters] });
  source.on('error', (error) => parser.destroy(error));
  const rows: AsyncIterable<ParsedRow> = source.pipe(parser);
  try {
    for await (const { record, info } of rows) {
      const end = { bytes: from.bytes + info.bytes, lines: from.lines + info.lines };
      // A row without a line break after it comes only once the whole file has been read.
      yield { cells: record, end, isTerminated: lastByte === 0x0a || lastByte === 0x0d };
    }
  } catch (error) {
    if (error instanceof CsvError) throw new TaskFailure('malformed_csv', detailOf(error, from));
    throw error;
  } finally {
    source.destroy();
  }
}

/** The parser counts lines from where it began. */
const detailOf = ({ message }: CsvError, { lines }: FilePosition): string =>
  message.replaceAll(/\bline (\d+)/g, (_, line: string) => `line ${lines + Number(line)}`);

function cellsOf(names: readonly string[], { cells, isTerminated }: Row): Omit<FileRecord, 'line' | 'end'> {
  const entries = names.flatMap((name, at) => (cells[at] === undefined ? [] : [[name, restoreFormulas(cells[at])] as const]));
  if (cells.length === names.length) return cellsFrom(entries);
  const mistake = `The header has ${names.length} columns, this row has ${cells.length}.`;
  // The last cell of a short row may be incomplete.
  return cells.length < names.length
    ? { ...cellsFrom(entries.slice(0, -1), mistake), isCutOff: !isTerminated }
    : cellsFrom(entries, mistake);
}
