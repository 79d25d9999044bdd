import { hash } from 'node:crypto';
import type { ForeignPasswordHash } from './password-scheme-with-parameters.ts';

const headerBytes = 64;
const sizeBytes = 96;

/**
 * Parses a hash in the format of the npm package scrypt-kdf, which Medusa stores in base64. The hash consists of the word `scrypt` and a
 * zero byte, log2 N, r, p, 32 bytes of salt, the first 16 bytes of the SHA-256 checksum of the preceding bytes, and an HMAC.
 */
export function parseScryptKdfHash(stored: string): ForeignPasswordHash | undefined {
  if (!/^c2NyeXB0A[A-Za-z0-9+/]{119}$/.test(stored)) return undefined;
  const bytes = Buffer.from(stored, 'base64');
  const header = bytes.subarray(0, headerBytes);
  if (bytes.length !== sizeBytes || !hash('sha256', bytes.subarray(0, 48), 'buffer').subarray(0, 16).equals(header.subarray(48))) {
    return undefined;
  }
  return {
    scheme: {
      scheme: 'scrypt-kdf',
      cost: 2 ** bytes.readUInt8(7),
      blockSize: bytes.readUInt32BE(8),
      parallelization: bytes.readUInt32BE(12),
      salt: bytes.subarray(16, 48).toString('base64'),
      header: header.toString('base64'),
    },
    digest: bytes.subarray(headerBytes).toString('hex'),
  };
}
