import { createHash, type Hash, type Hmac } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { TextDecoder } from 'node:util';
import { createGunzip } from 'node:zlib';
import type { z } from 'zod';
import { BackupError } from './backup-error.ts';
import {
  formatVersion,
  header,
  newSeal,
  seal,
  secretCheck,
  tableBegin,
  tableEnd,
  type Header,
  type TableBegin,
  type TableEnd,
} from './backup-format.ts';

/** What a backup says, in its order. Rows are lines without their line feeds. */
export type Part =
  | { readonly header: Header }
  | { readonly begins: TableBegin }
  | { readonly rows: readonly string[] }
  | { readonly ends: TableEnd };

export type Reading = {
  /** Of `deriveKeys`, for backups. */
  readonly key: Buffer;
  /** Bytes of the file that are read, of all it has. */
  readonly onBytes: (done: number, of: number) => void;
};

/** Characters: no row is longer, and whatever is, is no row. */
const lineMax = 1 << 28;

/** Reads a backup and checks everything that can be checked of it on the way; memory does not grow with it. Trust it at its end. */
export async function* readBackup(file: string, { key, onBytes }: Reading): AsyncGenerator<Part> {
  const checks = new Checks(file, key);
  let rows: string[] = [];
  for await (const lines of linesOf(file, onBytes)) {
    for (const line of lines) {
      if (line.startsWith('[')) rows.push(line);
      else {
        if (rows.length > 0) yield checks.rows(rows);
        rows = [];
        const part = checks.statement(line);
        if (part) yield part;
      }
    }
    if (rows.length > 0) yield checks.rows(rows);
    rows = [];
  }
  checks.end();
}

/** Reads a backup from end to end, so that one that is damaged is refused before anything is done with it. */
export async function verifyBackup(file: string, reading: Reading): Promise<Header> {
  let found: Header | undefined;
  for await (const part of readBackup(file, reading)) if ('header' in part) found = part.header;
  if (!found) throw damaged(file, 'it is empty');
  return found;
}

const damaged = (file: string, how: string): BackupError =>
  new BackupError(`${file} is no whole backup: ${how}. Copy it again from where it is kept, or take an older one`);

type OpenTable = { readonly begins: TableBegin; readonly hash: Hash; rows: number };

/** What has to follow what, and every sum. */
class Checks {
  readonly #file: string;
  readonly #key: Buffer;
  readonly #seal: Hmac;
  #header: Header | undefined;
  #table: OpenTable | undefined;
  #left = { tables: 0, rows: 0 };
  #sealed = false;

  constructor(file: string, key: Buffer) {
    this.#file = file;
    this.#key = key;
    this.#seal = newSeal(key);
  }

  rows(lines: readonly string[]): Part {
    const table = this.#table;
    if (!table) throw this.#damaged('it has rows outside of a table');
    const text = `${lines.join('\n')}\n`;
    table.hash.update(text);
    table.rows += lines.length;
    this.#seal.update(text);
    return { rows: lines };
  }

  /** A line that is no row. Nothing for the one that seals all the others. */
  statement(line: string): Part | undefined {
    const value = this.#json(line);
    if (this.#sealed) throw this.#damaged('it goes on after its end');
    const end = seal.safeParse(value).data;
    if (end) return this.#close(end);
    this.#seal.update(`${line}\n`);
    if (!this.#header) return { header: this.#open(value) };
    if (!this.#table) return { begins: this.#begin(tableBegin.safeParse(value).data) };
    return { ends: this.#finish(this.#table, tableEnd.safeParse(value).data) };
  }

  end(): void {
    if (!this.#sealed) throw this.#damaged('its end is missing');
  }

  #open(value: unknown): Header {
    const found = header.safeParse(value).data;
    if (!found) throw new BackupError(`${this.#file} is no backup of Mandate: name a file that \`mandate-server backup\` has written`);
    if (found.version > formatVersion)
      throw new BackupError(
        `${this.#file} was written by a newer release, in a form that this one does not know: restore it with that release`,
      );
    if (found.secret_check !== secretCheck(this.#key))
      throw new BackupError(
        `${this.#file} was made with another MANDATE_SECRET: set the one of the server that it was made of, which opens the signing keys and the secrets in it`,
      );
    this.#header = found;
    this.#left = { tables: found.tables, rows: found.rows };
    return found;
  }

  #begin(begins: TableBegin | undefined): TableBegin {
    if (!begins) throw this.#damaged('a line of it cannot be read');
    this.#table = { begins, hash: createHash('sha256'), rows: 0 };
    return begins;
  }

  #finish({ begins, hash, rows }: OpenTable, ends: TableEnd | undefined): TableEnd {
    if (ends?.end_of !== begins.table || rows !== begins.rows || hash.digest('hex') !== ends.sha256)
      throw this.#damaged(`the rows of ${begins.table} are not those that were written`);
    this.#table = undefined;
    this.#left = { tables: this.#left.tables - 1, rows: this.#left.rows - rows };
    return ends;
  }

  #close(end: z.infer<typeof seal>): undefined {
    const whole = this.#header !== undefined && this.#table === undefined && this.#left.tables === 0 && this.#left.rows === 0;
    if (!whole || end.seal !== this.#seal.digest('base64url')) throw this.#damaged('it was changed after it was written');
    this.#sealed = true;
  }

  #json(line: string): unknown {
    try {
      return JSON.parse(line);
    } catch {
      throw this.#damaged('a line of it cannot be read');
    }
  }

  #damaged(how: string): BackupError {
    return damaged(this.#file, how);
  }
}

async function* linesOf(file: string, onBytes: Reading['onBytes']): AsyncGenerator<string[]> {
  const { size } = await stat(file).catch((cause: unknown) => {
    throw new BackupError(`${file} cannot be read: is this the right name, and may this account read it?`, { cause });
  });
  const source = createReadStream(file, { highWaterMark: 1 << 18 });
  const unzipped = pipeline(source, createGunzip({ chunkSize: 1 << 18 }), () => undefined); // whoever reads is told of errors
  const text = new TextDecoder('utf-8', { fatal: true });
  let carried = '';
  try {
    for await (const chunk of unzipped) {
      if (!(chunk instanceof Uint8Array)) continue;
      onBytes(Math.min(source.bytesRead, size - 1), size);
      const lines = (carried + text.decode(chunk, { stream: true })).split('\n');
      carried = lines.pop() ?? '';
      if (carried.length > lineMax) throw damaged(file, 'a line of it has no end');
      yield lines;
    }
    text.decode();
  } catch (error) {
    if (error instanceof BackupError || !isDamage(error)) throw error;
    throw damaged(file, 'its end is missing, or it was changed');
  } finally {
    source.destroy();
  }
  if (carried !== '') throw damaged(file, 'its end is missing');
  onBytes(size, size);
}

/** What zlib says of bytes that it did not write, and the decoder of bytes that are no UTF-8. */
const isDamage = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof Error && 'code' in error && /^Z_|^ERR_ENCODING/.test(String(error.code)));
