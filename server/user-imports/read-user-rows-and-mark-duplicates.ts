import { hash } from 'node:crypto';
import type { ImportFileRow, ImportFile } from '../imports/import-row-types-and-cell-normalization.ts';
import { readImportRows } from '../imports/read-import-rows.ts';
import type { ImportPosition } from '../imports/run-import.ts';
import type { UserImportParams } from './user-import-parameters.ts';

/** Maximum number of keys that are kept in memory to find duplicates in a file; each user has up to two keys. */
const rememberedKeysMax = 500_000;

/** Returns an 80-bit hash, which needs less memory than the key. Two keys in a file practically never have the same hash. */
const hashKey = (key: string): string => hash('sha256', key, 'buffer').toString('latin1', 0, 10);

/** A row. For a duplicate row, `duplicate` specifies the first line with the same external ID or e-mail address. */
export type UserFileRow = { readonly record: ImportFileRow; readonly duplicate?: { readonly field: string; readonly line: number } };

/** A row whose password hash has been prepared for storage; in a dry run, no hash is prepared. */
export type PreparedUserFileRow = UserFileRow & { readonly storedPasswordHash?: string };

/**
 * Reads the rows after a position. The preceding rows are also read, because later rows can duplicate them. If a file contains more keys
 * than fit into memory, a later duplicate may not be found here. Such a duplicate is rejected when it is compared with the imported user.
 */
export async function* readUserRowsAndMarkDuplicates(
  file: ImportFile,
  params: UserImportParams,
  from: ImportPosition,
): AsyncGenerator<{ readonly item: UserFileRow; readonly end: ImportPosition }> {
  const firstLines = new Map<string, number>();
  for await (const record of readImportRows(file)) {
    const duplicate = findOrRememberDuplicate(firstLines, params, record);
    if (record.end.bytes > from.bytes) yield { item: { record, ...(duplicate && { duplicate }) }, end: record.end };
  }
}

function findOrRememberDuplicate(
  firstLines: Map<string, number>,
  params: UserImportParams,
  { cells, line, error }: ImportFileRow,
): UserFileRow['duplicate'] {
  if (error !== undefined) return undefined;
  const keys = [
    ['external_id', cells.get(params.external_id_column)],
    ['email', cells.get(params.email_column)?.toLowerCase()],
  ] as const;
  let duplicate: UserFileRow['duplicate'];
  for (const [field, value] of keys) {
    if (value === undefined) continue;
    const key = hashKey(`${field}\n${value}`);
    const first = firstLines.get(key);
    if (first !== undefined) duplicate ??= { field, line: first };
    else if (firstLines.size < rememberedKeysMax) firstLines.set(key, line);
  }
  return duplicate;
}
