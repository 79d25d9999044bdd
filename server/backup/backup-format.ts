import { createHmac, type Hmac } from 'node:crypto';
import { z } from 'zod';

/**
 * A backup is UTF-8 text, compressed by gzip. Its first line describes it; then, for each table, follow a line that begins it, one
 * line for each row, and a line that ends it; the last line seals all of them. A row is a JSON array of the text form that PostgreSQL
 * gives each value, or null: what is read back is the same value of any type, on any PostgreSQL and on PGlite.
 */
export const formatVersion = 1;

export const header = z.object({
  format: z.literal('mandate-backup'),
  version: z.number().int(),
  created_at: z.string(),
  /** What had been applied, in that order: the tables are as these make them. */
  migrations: z.array(z.string()),
  /** Tells whether a secret is the one of this installation, and nothing else about it. */
  secret_check: z.string(),
  tables: z.number().int(),
  rows: z.number().int(),
});
export type Header = z.infer<typeof header>;

export const tableBegin = z.object({ table: z.string(), columns: z.array(z.string()).min(1), rows: z.number().int() });
export type TableBegin = z.infer<typeof tableBegin>;

/** Where a sequence stands: `called` says whether `value` itself was given out. */
const sequence = z.object({ value: z.string().regex(/^\d+$/), called: z.boolean() });

export const tableEnd = z.object({
  end_of: z.string(),
  /** Of the lines of its rows, each with its line feed, in hexadecimal. */
  sha256: z.string(),
  /** By the column that takes its values from it. */
  sequences: z.record(sequence),
});
export type TableEnd = z.infer<typeof tableEnd>;

/** HMAC-SHA-256 of everything before this line, in base64url. */
export const seal = z.object({ seal: z.string() });

export const toLine = (value: Header | TableBegin | TableEnd | z.infer<typeof seal>): string => `${JSON.stringify(value)}\n`;

/** @param key of `deriveKeys`, for backups */
export const newSeal = (key: Buffer): Hmac => createHmac('sha256', key);
export const secretCheck = (key: Buffer): string => createHmac('sha256', key).update('the secret of this backup').digest('base64url');
