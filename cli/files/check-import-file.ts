import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { UploadFile } from './open-upload-file.ts';

/** Maximum size of a row, in bytes. Equals `maxImportRowBytes` in the contract. */
export const maxImportFileRowBytes = 100_000;

const [quote, newline, carriageReturn, comma] = [0x22, 0x0a, 0x0d, 0x2c];

/** Scans the rows of a CSV file, or the lines of an NDJSON file, byte by byte. */
class RowScanner {
  line = 1;
  isQuoted = false;
  /** Number of bytes in the current row. */
  size = 0;
  /** Whether the current row contains at least one byte. */
  hasContent = false;
  /** Number of columns in the header. */
  headerColumns: number | undefined;
  /** Number of columns in the current row. */
  columns = 1;
  /** Line number of the row that exceeded the maximum size. */
  oversizedRowLine: number | undefined;
  readonly #isCsv: boolean;

  constructor(isCsv: boolean) {
    this.#isCsv = isCsv;
  }

  read(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (byte === newline) this.line += 1;
      if (byte === newline && !this.isQuoted) this.#endRow();
      else this.#take(byte);
    }
  }

  #take(byte: number): void {
    this.size += 1;
    this.hasContent = true;
    if (this.size > maxImportFileRowBytes) this.oversizedRowLine ??= this.line;
    if (!this.#isCsv) return;
    if (byte === quote) this.isQuoted = !this.isQuoted;
    else if (byte === comma && !this.isQuoted) this.columns += 1;
    // Some files end their rows with a lone carriage return.
    else if (byte === carriageReturn && !this.isQuoted) this.size = 0;
  }

  #endRow(): void {
    if (this.hasContent) this.headerColumns ??= this.columns;
    [this.size, this.columns, this.hasContent] = [0, 1, false];
  }
}

/** Throws if the service would reject the whole file, so that the user sees the error before a long upload. */
export async function checkImportFileEncodingAndRows(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  contentType: UploadFile['contentType'],
): Promise<void> {
  const reject = (reason: string, hint: string): never => {
    throw new CommandError(exitCodes.usage, 'invalid_file', `${path} ${reason}`, { hint: `Nothing was sent. ${hint}` });
  };
  const scanner = new RowScanner(contentType === 'text/csv');
  const text = new TextDecoder('utf-8', { fatal: true });
  let bytes = 0;
  const decode = (chunk?: Uint8Array): void => {
    try {
      text.decode(chunk, { stream: chunk !== undefined });
    } catch {
      const [valid = ''] = new TextDecoder().decode(chunk).split('\uFFFD', 1);
      reject(`is not valid UTF-8 near line ${scanner.line + valid.split('\n').length - 1}`, 'Convert it to UTF-8.');
    }
  };
  for await (const chunk of chunks) {
    decode(chunk);
    scanner.read(chunk);
    bytes += chunk.length;
    if (scanner.oversizedRowLine !== undefined) break;
  }
  if (scanner.oversizedRowLine !== undefined)
    reject(
      `has a row of more than ${maxImportFileRowBytes} bytes that ends after line ${scanner.oversizedRowLine}`,
      'Check the quotation marks in that row.',
    );
  decode();
  if (bytes === 0) reject('is empty', 'Choose a file with a header and at least one row.');
  if (scanner.isQuoted) reject('ends inside a quoted field', 'The file may be truncated: import the complete file.');
  const { headerColumns, columns, hasContent, line } = scanner;
  if (headerColumns !== undefined && hasContent && columns < headerColumns) {
    reject(
      `ends in the middle of line ${line}, which has ${columns} of ${headerColumns} columns`,
      'The file may be truncated: import the complete file.',
    );
  }
}
