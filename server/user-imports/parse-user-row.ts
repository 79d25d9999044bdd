import {
  emailSchema,
  metadataSchema,
  nameFromOtherSystemSchema,
  singleLineInputSchema,
  timestampInputSchema,
  userCreateSchema,
  userStatuses,
} from '@mandate/contract';
import { z } from 'zod';
import { sha256 } from '../crypto/sha256.ts';
import { parseTimestampCell, type RowError, validateImportRow } from '../imports/parse-import-cells-and-validate-row.ts';
import { type ImportedPasswordHash, parseImportedPasswordHash } from '../oauth/passwords/imported/parse-imported-password-hash.ts';
import type { UserImportParams } from './user-import-parameters.ts';

type Cells = ReadonlyMap<string, string>;

const passwordHashSchema = z.string().transform((text, context): { text: string; hash: ImportedPasswordHash } => {
  const parsed = parseImportedPasswordHash(text);
  if ('hash' in parsed) return { text, hash: parsed.hash };
  context.addIssue({ code: 'custom', message: parsed.error });
  return z.NEVER;
});

const importedUserSchema = z.object({
  external_id: nameFromOtherSystemSchema(200).optional(),
  email: emailSchema,
  name: singleLineInputSchema(200),
  email_verified: z.boolean({ invalid_type_error: 'must be true, false, yes, no, 1 or 0' }),
  status: z.enum(userStatuses).exclude(['closed']).default('active'),
  locale: userCreateSchema.shape.locale,
  metadata: metadataSchema.default({}),
  consented_at: timestampInputSchema.optional(),
  password_hash: passwordHashSchema.optional(),
});

/** The data of a valid row. */
export type ImportedUserRow = z.output<typeof importedUserSchema>;

/** Parses a user from its row, or returns all errors. */
export function parseUserRow(params: UserImportParams, cells: Cells): { data: ImportedUserRow } | { errors: RowError[] } {
  const cell = (name: keyof UserImportParams & `${string}_column`): string | undefined => cells.get(params[name]);
  const fullName = [cell('given_name_column'), cell('family_name_column')].filter((part) => part !== undefined).join(' ');
  return validateImportRow(importedUserSchema, {
    external_id: cell('external_id_column'),
    email: cell('email_column'),
    name: cell('name_column') ?? (fullName === '' ? undefined : fullName),
    email_verified: parseBooleanCell(cell('email_verified_column') ?? params.emails_verified),
    status: cell('status_column'),
    locale: cell('locale_column'),
    metadata: parseMetadataCell(cell('metadata_column')),
    consented_at: parseTimestampCell(cell('consented_at_column'), params.utc_offset),
    password_hash: cell('password_hash_column'),
  });
}

const booleans: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  1: true,
  t: true,
  false: false,
  no: false,
  0: false,
  f: false,
};

/** Parses a Boolean, including `t` and `f`, which PostgreSQL exports. Returns other text unchanged, so that validation rejects it. */
const parseBooleanCell = (text: string): boolean | string => booleans[text.toLowerCase()] ?? text;

/**
 * Parses a JSON object whose values are strings, numbers, Booleans or null. Returns other text unchanged, so that validation rejects it.
 */
function parseMetadataCell(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    const parsed = z.record(z.union([z.string(), z.number(), z.boolean(), z.null()])).safeParse(JSON.parse(text));
    if (!parsed.success) return text;
    return Object.fromEntries(Object.entries(parsed.data).flatMap(([key, value]) => (value === null ? [] : [[key, String(value)]])));
  } catch {
    return text;
  }
}

/** Returns the SHA-256 hash of all data that an import takes from a row. */
export function computeUserFingerprint({ metadata, password_hash: password, ...row }: ImportedUserRow): string {
  const entries = Object.entries({ ...row, password: password?.text }).filter(([, value]) => value !== undefined);
  const sorted = [entries, Object.entries(metadata)].map((each) => each.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return sha256(JSON.stringify(sorted), 'hex');
}
