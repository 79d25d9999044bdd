import { Readable } from 'node:stream';
import { maxImportRowBytes } from '@mandate/contract';
import { CsvError, parse, type Info, type Options } from 'csv-parse';
import { restoreCsvFormulas } from '../tasks/neutralize-and-restore-csv-formulas.ts';
import { readStoredFileChunks } from '../tasks/stored-task-file.ts';
import { PermanentTaskError } from '../tasks/permanent-task-error.ts';
import {
  normalizeImportCells,
  type FilePosition,
  type ImportFileRow,
  startOfFilePosition,
  type ImportFile,
} from './import-row-types-and-cell-normalization.ts';

type Row = { readonly cells: readonly string[]; readonly end: FilePosition; readonly isTerminated: boolean };
type Header = { readonly names: readonly string[]; readonly end: FilePosition; readonly delimiters: readonly string[] };

/** Reads a CSV file's rows after the header. */
export async function* readCsvRows(file: ImportFile, from: FilePosition): AsyncGenerator<ImportFileRow> {
  const header = await readHeader(file);
  if (!header) return;
  const { names, end, delimiters } = header;
  for await (const row of csvRows(file, from.bytes > end.bytes ? from : end, delimiters)) {
    yield { line: row.end.lines, end: row.end, ...toCells(names, row) };
  }
}

async function readHeader(file: ImportFile): Promise<Header | undefined> {
  const delimiters = await detectRowDelimiters(file);
  for await (const { cells, end } of csvRows(file, startOfFilePosition, delimiters)) {
    const names = cells.map((name) => name.trim());
    const duplicate = names.find((name, at) => names.indexOf(name) !== at);
    if (duplicate !== undefined)
      throw new PermanentTaskError('duplicate_column', `The header has the column ${JSON.stringify(duplicate)} twice.`);
    return { names, end, delimiters };
  }
  return undefined;
}

/**
 * Detects the row delimiter from the first line. Only a few old programs use a lone carriage return as the row delimiter. In all other
 * files, cells can contain carriage returns.
 */
async function detectRowDelimiters({ em, fileId }: ImportFile): Promise<readonly string[]> {
  for await (const chunk of readStoredFileChunks(em, fileId)) {
    const [first] = /\r\n|\n|\r/.exec(chunk.toString('utf8').replaceAll(/"[^"]*"/g, '')) ?? [];
    return first === '\r' ? ['\r'] : ['\r\n', '\n'];
  }
  return ['\r\n', '\n'];
}

type ParsedRow = { readonly record: readonly string[]; readonly info: Info };

/** Bytes per parser call. With larger chunks, parsed rows would be promoted to the old generation of the heap. */
const parserInputMax = 16 * 1024;

const options = {
  bom: true,
  info: true,
  relax_column_count: true,
  skip_empty_lines: true,
  max_record_size: maxImportRowBytes,
} satisfies Options;

async function* csvRows({ em, fileId }: ImportFile, from: FilePosition, delimiters: readonly string[]): AsyncGenerator<Row> {
  let lastByte: number | undefined;
  const chunks = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of readStoredFileChunks(em, fileId, from.bytes)) {
      for (let start = 0; start < chunk.length; start += parserInputMax) {
        const part = chunk.subarray(start, start + parserInputMax);
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
      // The parser emits a row without a final line break only after the whole file has been read.
      yield { cells: record, end, isTerminated: lastByte === 0x0a || lastByte === 0x0d };
    }
  } catch (error) {
    if (error instanceof CsvError) throw new PermanentTaskError('malformed_csv', errorDetail(error, from));
    throw error;
  } finally {
    source.destroy();
  }
}

/** Corrects the line numbers in a parser error. The parser counts lines from the start position. */
const errorDetail = ({ message }: CsvError, { lines }: FilePosition): string =>
  message.replaceAll(/\bline (\d+)/g, (_, line: string) => `line ${lines + Number(line)}`);

function toCells(names: readonly string[], { cells, isTerminated }: Row): Omit<ImportFileRow, 'line' | 'end'> {
  const entries = names.flatMap((name, at) => (cells[at] === undefined ? [] : [[name, restoreCsvFormulas(cells[at])] as const]));
  if (cells.length === names.length) return normalizeImportCells(entries);
  const error = `The header has ${names.length} columns, this row has ${cells.length}.`;
  // The last cell of a short row may be incomplete.
  return cells.length < names.length
    ? { ...normalizeImportCells(entries.slice(0, -1), error), isCutOff: !isTerminated }
    : normalizeImportCells(entries, error);
}
