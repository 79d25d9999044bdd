import { CommandFailure } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { FileToSend } from './open-upload.ts';

/** Largest row that the service reads, in bytes; the same as `importRowMax` of the contract. */
export const rowMax = 100_000;

const [quote, newline, carriageReturn, comma] = [0x22, 0x0a, 0x0d, 0x2c];

/** Follows the rows of a CSV file, or the lines of a file of JSON objects, byte by byte. */
class RowScanner {
  line = 1;
  isQuoted = false;
  /** Bytes of the current row, and whether it has any. */
  size = 0;
  hasContent = false;
  /** Of the header and of the current row. */
  headerColumns: number | undefined;
  columns = 1;
  tooLong: number | undefined;
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
    if (this.size > rowMax) this.tooLong ??= this.line;
    if (!this.#isCsv) return;
    if (byte === quote) this.isQuoted = !this.isQuoted;
    else if (byte === comma && !this.isQuoted) this.columns += 1;
    // The rows of a few files end with a carriage return alone.
    else if (byte === carriageReturn && !this.isQuoted) this.size = 0;
  }

  #endRow(): void {
    if (this.hasContent) this.headerColumns ??= this.columns;
    [this.size, this.columns, this.hasContent] = [0, 1, false];
  }
}

/** Refuses a file that the service would refuse as a whole: before the upload, which may take long. */
export async function checkFile(path: string, pieces: AsyncIterable<Uint8Array>, contentType: FileToSend['contentType']): Promise<void> {
  const refuse = (reason: string, hint: string): never => {
    throw new CommandFailure(exitCodes.usage, 'invalid_file', `${path} ${reason}`, { hint: `Nothing was sent. ${hint}` });
  };
  const scanner = new RowScanner(contentType === 'text/csv');
  const text = new TextDecoder('utf-8', { fatal: true });
  let bytes = 0;
  const decode = (piece?: Uint8Array): void => {
    try {
      text.decode(piece, { stream: piece !== undefined });
    } catch {
      const [valid = ''] = new TextDecoder().decode(piece).split('\uFFFD', 1);
      refuse(`is not valid UTF-8 near line ${scanner.line + valid.split('\n').length - 1}`, 'Convert it to UTF-8.');
    }
  };
  for await (const piece of pieces) {
    decode(piece);
    scanner.read(piece);
    bytes += piece.length;
    if (scanner.tooLong !== undefined) break;
  }
  if (scanner.tooLong !== undefined)
    refuse(`has a row of more than ${rowMax} bytes that ends after line ${scanner.tooLong}`, 'Check its quotes.');
  decode();
  if (bytes === 0) refuse('is empty', 'Name a file with a header and rows.');
  if (scanner.isQuoted) refuse('ends within quotes', 'It may have been cut off: import the complete file.');
  const { headerColumns, columns, hasContent, line } = scanner;
  if (headerColumns !== undefined && hasContent && columns < headerColumns) {
    refuse(
      `ends within line ${line}, which has ${columns} of ${headerColumns} columns`,
      'It may have been cut off: import the complete file.',
    );
  }
}
