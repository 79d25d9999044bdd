import { randomBytes, timingSafeEqual } from 'node:crypto';
import { deriveArgon2idKey } from './derive-argon2id-key.ts';

/** Parameters that OWASP recommends for argon2id. */
const currentCost = { memory: 19_456, passes: 2, parallelism: 1 };
type Cost = typeof currentCost;

/** Thrown when the password hashing queue is full. */
export class PasswordHashQueueFullError extends Error {
  override readonly name = 'PasswordHashQueueFullError';
}

// Hashing occupies threads that file access and DNS lookups also need, so concurrency and queue length are limited.
const concurrentMax = 2;
const queuedMax = 64;
let running = 0;
const queue: (() => void)[] = [];

async function withHashSlot<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running >= concurrentMax) {
    if (queue.length >= queuedMax) throw new PasswordHashQueueFullError('too many passwords are being hashed');
    await new Promise<void>((resolve) => queue.push(resolve)); // a finished call passes its slot to the next call
  } else {
    running += 1;
  }
  try {
    return await work();
  } finally {
    const next = queue.shift();
    if (next) next();
    else running -= 1;
  }
}

// Normalizes the password, because keyboards may compose the same characters differently.
const deriveKey = (password: string, nonce: Buffer, cost: Cost, tagLength: number): Promise<Buffer> =>
  withHashSlot(() => deriveArgon2idKey({ message: password.normalize('NFKC'), nonce, tagLength, ...cost }));

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/** Hashes a password and returns the hash as a standard PHC string, `$argon2id$v=19$m=...`, which other libraries can read. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const { memory, passes, parallelism } = currentCost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(await deriveKey(password, salt, currentCost, 32))}`;
}

const phcPattern = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

// A hash that matches no password, so that verification takes as long for an unknown account as for a wrong password.
const dummyHash = hashPassword(randomBytes(32).toString('base64'));

/**
 * Verifies a password. Pass `undefined` as the hash if the account does not exist; in this case, verification takes the same time and
 * fails.
 */
export async function verifyPassword(password: string, hash: string | undefined): Promise<boolean> {
  const parts = phcPattern.exec(hash ?? (await dummyHash));
  if (!parts) throw new Error('a stored password hash is not argon2id');
  const [, memory = '', passes = '', parallelism = '', salt = '', tag = ''] = parts;
  const expected = Buffer.from(tag, 'base64');
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const actual = await deriveKey(password, Buffer.from(salt, 'base64'), cost, expected.length);
  return timingSafeEqual(actual, expected) && hash !== undefined;
}
