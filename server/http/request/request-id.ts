import { randomFillSync } from 'node:crypto';
import { ulid } from 'ulid';

const randomBytes = new Uint8Array(4096);
let nextIndex = randomBytes.length;

/**
 * Uses random bytes that were generated in advance, because calling the system random generator 16 times per ID can take longer than
 * handling the request itself.
 */
function randomFraction(): number {
  if (nextIndex === randomBytes.length) {
    randomFillSync(randomBytes);
    nextIndex = 0;
  }
  const byte = randomBytes[nextIndex] ?? 0;
  nextIndex += 1;
  return byte / 256;
}

/** Creates an ID from `req_` and a ULID, so that IDs are unique and sort by time. */
export const newRequestId = (): string => `req_${ulid(undefined, randomFraction)}`;
