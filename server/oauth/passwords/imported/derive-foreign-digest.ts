import { createCipheriv, createHmac, hash, pbkdf2, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { deriveArgon2idKey } from '../argon2id/derive-argon2id-key.ts';
import { deriveBcryptHash } from './derive-bcrypt-hash.ts';
import { derivePhpassDigest } from './derive-phpass-digest.ts';
import type { PasswordScheme } from './password-scheme-with-parameters.ts';

const pbkdf2Async = promisify(pbkdf2);

/**
 * Derives a password's digest with a scheme from another system. Runs in another thread, or in steps that are too short to block the event
 * loop.
 */
export async function deriveForeignDigest(password: string, scheme: PasswordScheme): Promise<string> {
  if (scheme.scheme === 'bcrypt') return deriveBcryptHash(prehashForBcrypt(password, scheme.prehash), scheme.settings);
  return (await deriveBytes(password, scheme)).toString('hex');
}

type ByteScheme = Exclude<PasswordScheme, { scheme: 'bcrypt' }>;

async function deriveBytes(password: string, scheme: ByteScheme): Promise<Buffer> {
  switch (scheme.scheme) {
    case 'argon2id': {
      const { memory, passes, parallelism, length: tagLength } = scheme;
      return deriveArgon2idKey({ message: password, nonce: decode(scheme.salt), memory, passes, parallelism, tagLength });
    }
    case 'scrypt':
      return deriveScryptKey(password, decode(scheme.salt), scheme, scheme.length);
    case 'scrypt-kdf': {
      const key = await deriveScryptKey(password, decode(scheme.salt), scheme, 64);
      return createHmac('sha256', key.subarray(32)).update(decode(scheme.header)).digest();
    }
    case 'firebase-scrypt': {
      const salt = Buffer.concat([decode(scheme.salt), decode(scheme.saltSeparator)]);
      const key = await deriveScryptKey(password, salt, scheme, 64);
      return createCipheriv('aes-256-ctr', key.subarray(0, 32), Buffer.alloc(16)).update(decode(scheme.signerKey));
    }
    case 'pbkdf2':
      return pbkdf2Async(password, decode(scheme.salt), scheme.iterations, scheme.length, scheme.hash);
    case 'sha': {
      const parts = [decode(scheme.salt), Buffer.from(password)];
      return hash(scheme.hash, Buffer.concat(scheme.saltPosition === 'before' ? parts : parts.toReversed()), 'buffer');
    }
    case 'phpass':
      break;
  }
  return derivePhpassDigest(Buffer.from(password), scheme.salt, scheme.log2Iterations);
}

const decode = (base64: string): Buffer => Buffer.from(base64, 'base64');

type ScryptCost = { readonly cost: number; readonly blockSize: number; readonly parallelization: number };

function deriveScryptKey(password: string, salt: Buffer, scheme: ScryptCost, length: number): Promise<Buffer> {
  const { cost, blockSize, parallelization } = scheme;
  // OpenSSL counts more memory than the 128 × N × r bytes that the algorithm uses.
  const maxmem = 128 * cost * blockSize + 128 * blockSize * parallelization + 2 ** 20;
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  scrypt(password, salt, length, { cost, blockSize, parallelization, maxmem }, (error, key) => (error ? reject(error) : resolve(key)));
  return promise;
}

function prehashForBcrypt(password: string, prehash: 'none' | 'django-sha256' | 'wordpress-sha384'): string {
  if (prehash === 'django-sha256') return hash('sha256', password, 'hex');
  if (prehash === 'wordpress-sha384') return createHmac('sha384', 'wp-sha384').update(password).digest('base64');
  return password;
}
