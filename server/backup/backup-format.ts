import { createHmac, type Hmac } from 'node:crypto';
import { z } from 'zod';

/**
 * A backup is gzip-compressed UTF-8 text whose first line is the header. Each table has a start line, one line per row, and an end line.
 * The last line of the file authenticates all other lines. A row is a JSON array. Each value is either null or a string in PostgreSQL's
 * text format, so that values of any type are restored exactly, on both PostgreSQL and PGlite.
 */
export const backupFormatVersion = 1;

export const backupHeaderSchema = z.object({
  format: z.literal('mandate-backup'),
  version: z.number().int(),
  created_at: z.string(),
  /** Applied migrations, in the order in which they were applied. The migrations define the table schema. */
  migrations: z.array(z.string()),
  /** Fingerprint that shows whether a secret belongs to this installation without revealing anything else about the secret. */
  secret_check: z.string(),
  tables: z.number().int(),
  rows: z.number().int(),
});
export type BackupHeader = z.infer<typeof backupHeaderSchema>;

export const backupTableStartSchema = z.object({ table: z.string(), columns: z.array(z.string()).min(1), rows: z.number().int() });
export type TableStart = z.infer<typeof backupTableStartSchema>;

/** State of a sequence; `called` is PostgreSQL's `is_called`, which specifies whether the sequence has already returned `value`. */
const sequenceSchema = z.object({ value: z.string().regex(/^\d+$/), called: z.boolean() });

export const backupTableEndSchema = z.object({
  end_of: z.string(),
  /** Hexadecimal SHA-256 digest of the row lines, including their line feeds. */
  sha256: z.string(),
  /** Sequence states, keyed by the name of the column that uses the sequence. */
  sequences: z.record(sequenceSchema),
});
export type TableEnd = z.infer<typeof backupTableEndSchema>;

/** HMAC-SHA-256 of all preceding lines, encoded as base64url. */
export const backupHmacSchema = z.object({ seal: z.string() });

export const formatBackupStructureLine = (value: BackupHeader | TableStart | TableEnd | z.infer<typeof backupHmacSchema>): string =>
  `${JSON.stringify(value)}\n`;

/** @param key the backup key returned by `deriveKeys` */
export const createBackupHmac = (key: Buffer): Hmac => createHmac('sha256', key);
export const computeBackupKeyFingerprint = (key: Buffer): string =>
  createHmac('sha256', key).update('the secret of this backup').digest('base64url');
