import crypto from 'node:crypto';
import { promisify } from 'node:util';

export type Argon2idParameters = {
  readonly message: string;
  readonly nonce: Buffer;
  /** Memory in KiB. */
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
  readonly tagLength: number;
};

type DeriveKey = (parameters: Argon2idParameters) => Promise<Buffer>;

/** Undefined in Node.js 22, which does not have `crypto.argon2`. */
const nativeArgon2: typeof crypto.argon2 | undefined = crypto.argon2;
const derive = nativeArgon2 && promisify(nativeArgon2);

/** Derives a key in JavaScript, which is several times slower than `crypto.argon2`, but blocks the event loop for at most 10 ms. */
export const deriveArgon2idKeyInJavaScript: DeriveKey = async ({ message, nonce, memory, passes, parallelism, tagLength }) => {
  const { argon2idAsync } = await import('@noble/hashes/argon2.js');
  return Buffer.from(await argon2idAsync(message, nonce, { m: memory, t: passes, p: parallelism, dkLen: tagLength, asyncTick: 10 }));
};

/** Derives a key with argon2id (RFC 9106). Uses `crypto.argon2` if this version of Node.js provides it. */
export const deriveArgon2idKey: DeriveKey = derive ? (parameters) => derive('argon2id', parameters) : deriveArgon2idKeyInJavaScript;
