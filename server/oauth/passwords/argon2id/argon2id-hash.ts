import { randomBytes, timingSafeEqual } from 'node:crypto';
import { deriveArgon2idKey } from './derive-argon2id-key.ts';
import type { withHashSlot } from './password-hash-slots.ts';

/** Parameters that OWASP recommends for argon2id. */
const currentCost = { memory: 19_456, passes: 2, parallelism: 1 };

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/** Hashes a string with argon2id, and returns the hash as a standard PHC string, `$argon2id$v=19$m=...`, which other libraries can read. */
export async function createArgon2idHash(message: string, withSlot: typeof withHashSlot): Promise<string> {
  const nonce = randomBytes(16);
  const key = await withSlot(() => deriveArgon2idKey({ message, nonce, tagLength: 32, ...currentCost }));
  const { memory, passes, parallelism } = currentCost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(nonce)}$${unpadded(key)}`;
}

const phcPattern = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** Verifies a string against an argon2id hash in constant time. */
export async function matchesArgon2idHash(message: string, phc: string, withSlot: typeof withHashSlot): Promise<boolean> {
  const parts = phcPattern.exec(phc);
  if (!parts) throw new Error('a stored password hash is not argon2id');
  const [, memory = '', passes = '', parallelism = '', salt = '', tag = ''] = parts;
  const expected = Buffer.from(tag, 'base64');
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const nonce = Buffer.from(salt, 'base64');
  const actual = await withSlot(() => deriveArgon2idKey({ message, nonce, tagLength: expected.length, ...cost }));
  return timingSafeEqual(actual, expected);
}
