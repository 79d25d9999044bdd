import { createHash, type Hash, type Hmac } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { TextDecoder } from 'node:util';
import { createGunzip } from 'node:zlib';
import type { z } from 'zod';
import { BackupError } from './backup-error.ts';
import {
  backupFormatVersion,
  backupHeaderSchema,
  createBackupHmac,
  backupHmacSchema,
  computeBackupKeyFingerprint,
  backupTableStartSchema,
  backupTableEndSchema,
  type BackupHeader,
  type TableStart,
  type TableEnd,
} from './backup-format.ts';

/** One part of a backup. `readBackup` yields the parts in file order. Each row is one line of the file, without the line feed. */
export type BackupPart =
  | { readonly header: BackupHeader }
  | { readonly begins: TableStart }
  | { readonly rows: readonly string[] }
  | { readonly ends: TableEnd };

export type ReadBackupOptions = {
  /** The backup key returned by `deriveKeys`. */
  readonly key: Buffer;
  /** Reports how many bytes of the file have been read. */
  readonly onBytes: (done: number, of: number) => void;
};

/** Maximum line length in characters, which no row exceeds. */
const maxLineLength = 1 << 28;

/** Reads and verifies a backup, using a constant amount of memory. Do not trust the content until the last part has been read. */
export async function* readBackup(file: string, { key, onBytes }: ReadBackupOptions): AsyncGenerator<BackupPart> {
  const verifier = new BackupVerifier(file, key);
  let rows: string[] = [];
  for await (const lines of readLines(file, onBytes)) {
    for (const line of lines) {
      if (line.startsWith('[')) rows.push(line);
      else {
        if (rows.length > 0) yield verifier.rows(rows);
        rows = [];
        const part = verifier.statement(line);
        if (part) yield part;
      }
    }
    if (rows.length > 0) yield verifier.rows(rows);
    rows = [];
  }
  verifier.end();
}

/** Reads and verifies an entire backup, so that a damaged backup is rejected before anything is restored. */
export async function verifyBackupAndReadHeader(file: string, reading: ReadBackupOptions): Promise<BackupHeader> {
  let found: BackupHeader | undefined;
  for await (const part of readBackup(file, reading)) if ('header' in part) found = part.header;
  if (!found) throw damagedError(file, 'it is empty');
  return found;
}

const damagedError = (file: string, reason: string): BackupError =>
  new BackupError(`${file} is a damaged backup: ${reason}. Copy it again from its original location, or use an older one`);

type TableInProgress = { readonly begins: TableStart; readonly hash: Hash; rows: number };

/** Verifies the line order and all checksums. */
class BackupVerifier {
  readonly #file: string;
  readonly #key: Buffer;
  readonly #seal: Hmac;
  #header: BackupHeader | undefined;
  #table: TableInProgress | undefined;
  #remaining = { tables: 0, rows: 0 };
  #isSealed = false;

  constructor(file: string, key: Buffer) {
    this.#file = file;
    this.#key = key;
    this.#seal = createBackupHmac(key);
  }

  rows(lines: readonly string[]): BackupPart {
    const table = this.#table;
    if (!table) throw this.#damaged('it contains rows outside of a table');
    const text = `${lines.join('\n')}\n`;
    table.hash.update(text);
    table.rows += lines.length;
    this.#seal.update(text);
    return { rows: lines };
  }

  /** Processes a line that is not a table row. Returns `undefined` for the last line, which contains the MAC. */
  statement(line: string): BackupPart | undefined {
    const value = this.#json(line);
    if (this.#isSealed) throw this.#damaged('it continues after its end');
    const end = backupHmacSchema.safeParse(value).data;
    if (end) return this.#close(end);
    this.#seal.update(`${line}\n`);
    if (!this.#header) return { header: this.#open(value) };
    if (!this.#table) return { begins: this.#begin(backupTableStartSchema.safeParse(value).data) };
    return { ends: this.#finish(this.#table, backupTableEndSchema.safeParse(value).data) };
  }

  end(): void {
    if (!this.#isSealed) throw this.#damaged('its end is missing');
  }

  #open(value: unknown): BackupHeader {
    const found = backupHeaderSchema.safeParse(value).data;
    if (!found) throw new BackupError(`${this.#file} is not a Mandate backup: specify a file that \`mandate-server backup\` has written`);
    if (found.version > backupFormatVersion)
      throw new BackupError(
        `${this.#file} was written by a newer release, in a format that this release does not support: restore it with that release`,
      );
    if (found.secret_check !== computeBackupKeyFingerprint(this.#key))
      throw new BackupError(
        `${this.#file} was created with another MANDATE_SECRET: set the secret of the server that the backup is from, which decrypts the signing keys and secrets in the backup`,
      );
    this.#header = found;
    this.#remaining = { tables: found.tables, rows: found.rows };
    return found;
  }

  #begin(begins: TableStart | undefined): TableStart {
    if (!begins) throw this.#damaged('it contains an invalid line');
    this.#table = { begins, hash: createHash('sha256'), rows: 0 };
    return begins;
  }

  #finish({ begins, hash, rows }: TableInProgress, ends: TableEnd | undefined): TableEnd {
    if (ends?.end_of !== begins.table || rows !== begins.rows || hash.digest('hex') !== ends.sha256)
      throw this.#damaged(`the rows of ${begins.table} have been changed`);
    this.#table = undefined;
    this.#remaining = { tables: this.#remaining.tables - 1, rows: this.#remaining.rows - rows };
    return ends;
  }

  #close(end: z.infer<typeof backupHmacSchema>): undefined {
    const isComplete =
      this.#header !== undefined && this.#table === undefined && this.#remaining.tables === 0 && this.#remaining.rows === 0;
    if (!isComplete || end.seal !== this.#seal.digest('base64url')) throw this.#damaged('it has been changed');
    this.#isSealed = true;
  }

  #json(line: string): unknown {
    try {
      return JSON.parse(line);
    } catch {
      throw this.#damaged('it contains an invalid line');
    }
  }

  #damaged(reason: string): BackupError {
    return damagedError(this.#file, reason);
  }
}

async function* readLines(file: string, onBytes: ReadBackupOptions['onBytes']): AsyncGenerator<string[]> {
  const { size } = await stat(file).catch((cause: unknown) => {
    throw new BackupError(`${file} cannot be read: is the name correct, and can this account read the file?`, { cause });
  });
  const source = createReadStream(file, { highWaterMark: 1 << 18 });
  const unzipped = pipeline(source, createGunzip({ chunkSize: 1 << 18 }), () => undefined); // the loop below receives the errors
  const text = new TextDecoder('utf-8', { fatal: true });
  let remainder = '';
  try {
    for await (const chunk of unzipped) {
      if (!(chunk instanceof Uint8Array)) continue;
      onBytes(Math.min(source.bytesRead, size - 1), size);
      const lines = (remainder + text.decode(chunk, { stream: true })).split('\n');
      remainder = lines.pop() ?? '';
      if (remainder.length > maxLineLength) throw damagedError(file, 'it contains a line without an end');
      yield lines;
    }
    text.decode();
  } catch (error) {
    if (error instanceof BackupError || !isDecodingError(error)) throw error;
    throw damagedError(file, 'it is truncated or has been changed');
  } finally {
    source.destroy();
  }
  if (remainder !== '') throw damagedError(file, 'its end is missing');
  onBytes(size, size);
}

/** Returns whether an error is a zlib error for damaged data, or a decoder error for invalid UTF-8. */
const isDecodingError = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof Error && 'code' in error && /^Z_|^ERR_ENCODING/.test(String(error.code)));
