import { randomFillSync } from 'node:crypto';
import { ulid } from 'ulid';

const pool = new Uint8Array(4096);
let next = pool.length;

/** Drawn in advance: sixteen calls of the system's generator for every id would cost more than many a request. */
function random(): number {
  if (next === pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  const byte = pool[next] ?? 0;
  next += 1;
  return byte / 256;
}

/** `req_` and a ULID: unique, and sorted by time. */
export const newRequestId = (): string => `req_${ulid(undefined, random)}`;
