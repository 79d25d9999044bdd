import { randomFillSync } from 'node:crypto';
import { ulid } from 'ulid';

const randomBytes = new Uint8Array(4096);
let nextIndex = randomBytes.length;

/** Uses bytes generated in advance: 16 calls of the system random generator per id would cost more than handling many requests. */
function randomFraction(): number {
  if (nextIndex === randomBytes.length) {
    randomFillSync(randomBytes);
    nextIndex = 0;
  }
  const byte = randomBytes[nextIndex] ?? 0;
  nextIndex += 1;
  return byte / 256;
}

/** Creates an id of `req_` and a ULID, so that ids are unique and sort by time. */
export const newRequestId = (): string => `req_${ulid(undefined, randomFraction)}`;
