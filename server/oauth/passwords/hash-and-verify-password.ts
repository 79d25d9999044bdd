import { randomBytes } from 'node:crypto';
import { createArgon2idHash, matchesArgon2idHash } from './argon2id/argon2id-hash.ts';
import { isImportedPasswordHash, matchesImportedPasswordHash } from './imported/stored-imported-password-hash.ts';
import { withHashSlot } from './argon2id/password-hash-slots.ts';

// Different keyboards may compose the same character differently.
const normalize = (password: string): string => password.normalize('NFKC');

/** Hashes a password with argon2id. */
export const hashPassword = (password: string): Promise<string> => createArgon2idHash(normalize(password), withHashSlot);

// A hash that matches no password. With this hash, verification takes as long for an unknown account as for a wrong password.
const dummyHash = hashPassword(randomBytes(32).toString('base64'));

/**
 * Verifies a password. Pass `undefined` as the hash if the account does not exist; in this case, verification takes the same time and
 * fails. The verification of an imported hash may take more or less time, depending on its scheme.
 */
export async function verifyPassword(password: string, hash: string | undefined): Promise<boolean> {
  if (hash !== undefined && isImportedPasswordHash(hash)) return matchesImportedPasswordHash(password, hash);
  const matches = await matchesArgon2idHash(normalize(password), hash ?? (await dummyHash), withHashSlot);
  return matches && hash !== undefined;
}
