import type { PasswordScheme } from './password-scheme-with-parameters.ts';

const mebibyte = 2 ** 20;

/**
 * Maximum cost of an imported hash. A single verification takes at most about a second, and two concurrent verifications use at most 256
 * MiB, so that the sign-in of an imported user cannot block the server.
 */
export const maxImportedHashCost = {
  memoryBytes: 128 * mebibyte,
  /** argon2id: memory in KiB times passes. */
  argon2idWork: 512 * 1024,
  argon2idParallelism: 16,
  bcryptCost: 14,
  /** scrypt: N × r × p. */
  scryptWork: 2 ** 21,
  pbkdf2Iterations: 2_000_000,
  phpassLog2Iterations: 18,
} as const;

/** Returns why verifying a hash of this scheme would use too much memory or time; undefined if the scheme is within the limits. */
export function findExcessiveCostReason(scheme: PasswordScheme): string | undefined {
  switch (scheme.scheme) {
    case 'argon2id':
      return (
        above('The memory in KiB', scheme.memory, maxImportedHashCost.memoryBytes / 1024) ??
        above('The memory in KiB times the number of passes', scheme.memory * scheme.passes, maxImportedHashCost.argon2idWork) ??
        above('The parallelism', scheme.parallelism, maxImportedHashCost.argon2idParallelism)
      );
    case 'bcrypt':
      return above('The cost', scheme.cost, maxImportedHashCost.bcryptCost);
    case 'scrypt':
    case 'scrypt-kdf':
    case 'firebase-scrypt':
      return (
        above('The memory in bytes', 128 * scheme.cost * scheme.blockSize, maxImportedHashCost.memoryBytes) ??
        above('N × r × p', scheme.cost * scheme.blockSize * scheme.parallelization, maxImportedHashCost.scryptWork)
      );
    case 'pbkdf2':
      return above('The number of iterations', scheme.iterations, maxImportedHashCost.pbkdf2Iterations);
    case 'phpass':
      return above('The base-2 logarithm of the iterations', scheme.log2Iterations, maxImportedHashCost.phpassLog2Iterations);
    case 'sha':
      break;
  }
  return undefined;
}

const above = (what: string, value: number, maximum: number): string | undefined =>
  value > maximum ? `${what} is ${value}, more than the maximum of ${maximum}.` : undefined;

/** Returns whether stolen hashes of this scheme could be cracked so quickly that the server must additionally wrap them in argon2id. */
export function isWeakPasswordScheme(scheme: PasswordScheme): boolean {
  switch (scheme.scheme) {
    case 'argon2id':
      return scheme.memory * scheme.passes < 35_000; // OWASP's smallest configuration uses 7 MiB and 5 passes
    case 'bcrypt':
      return scheme.cost < 10;
    case 'scrypt':
    case 'scrypt-kdf':
    case 'firebase-scrypt':
      return scheme.cost * scheme.blockSize * scheme.parallelization < 2 ** 17;
    case 'pbkdf2':
      return scheme.iterations < (scheme.hash === 'sha512' ? 100_000 : 200_000);
    case 'sha':
    case 'phpass':
      break;
  }
  return true;
}

/** Returns why no password can be verified with these parameters; undefined if they are valid. */
export function findInvalidSchemeParameterReason(scheme: PasswordScheme): string | undefined {
  switch (scheme.scheme) {
    case 'argon2id':
      if (scheme.passes < 1 || scheme.parallelism < 1) return 'There must be at least one pass and one lane.';
      if (Buffer.from(scheme.salt, 'base64').length < 8) return 'The salt must have at least 8 bytes.';
      return scheme.memory < 8 * scheme.parallelism ? 'The memory must be at least 8 KiB for each lane.' : undefined;
    case 'bcrypt':
      return scheme.cost < 4 ? 'The cost must be at least 4.' : undefined;
    case 'scrypt':
    case 'scrypt-kdf':
    case 'firebase-scrypt':
      if (scheme.cost < 2 || !Number.isInteger(Math.log2(scheme.cost))) return 'N must be a power of 2.';
      return scheme.blockSize < 1 || scheme.parallelization < 1 ? 'r and p must be at least 1.' : undefined;
    case 'pbkdf2':
      return scheme.iterations < 1 ? 'The number of iterations must be at least 1.' : undefined;
    case 'phpass':
      return scheme.log2Iterations < 7 ? 'The base-2 logarithm of the iterations must be at least 7.' : undefined;
    case 'sha':
      break;
  }
  return undefined;
}
