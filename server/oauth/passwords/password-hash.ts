import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(argon2);

/** OWASP's recommendation for argon2id. */
const current = { memory: 19_456, passes: 2, parallelism: 1 };
type Cost = typeof current;

/** More people are signing in than the server can check at once. */
export class TooBusyError extends Error {
  override readonly name = 'TooBusyError';
}

// Hashing fills the threads that files and name look-ups need too: two at a time, and a queue that ends.
const runningMax = 2;
const waitingMax = 64;
let running = 0;
const waiting: (() => void)[] = [];

async function gated<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running >= runningMax) {
    if (waiting.length >= waitingMax) throw new TooBusyError('too many passwords to check');
    await new Promise<void>((resolve) => waiting.push(resolve)); // whoever finishes passes its place on
  } else {
    running += 1;
  }
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

// The same characters typed on another keyboard may arrive composed differently.
const toKey = (password: string, nonce: Buffer, cost: Cost, tagLength: number): Promise<Buffer> =>
  gated(() => derive('argon2id', { message: password.normalize('NFKC'), nonce, tagLength, ...cost }));

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/** The standard string form, `$argon2id$v=19$m=...`, which other libraries read too. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const { memory, passes, parallelism } = current;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${unpadded(salt)}$${unpadded(await toKey(password, salt, current, 32))}`;
}

const standardForm = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

// Nobody's password: it makes an unknown account take as long as a wrong password.
const nobody = hashPassword(randomBytes(32).toString('base64'));

/** `hash` is undefined for an account that there is not; the answer takes the same time. */
export async function passwordMatches(password: string, hash: string | undefined): Promise<boolean> {
  const parts = standardForm.exec(hash ?? (await nobody));
  if (!parts) throw new Error('a stored password hash is not argon2id');
  const [, memory = '', passes = '', parallelism = '', salt = '', tag = ''] = parts;
  const expected = Buffer.from(tag, 'base64');
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const actual = await toKey(password, Buffer.from(salt, 'base64'), cost, expected.length);
  return timingSafeEqual(actual, expected) && hash !== undefined;
}
