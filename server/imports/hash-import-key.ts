import { hash } from 'node:crypto';

/** Returns a 48-bit hash of a key, such as an order reference, which needs less memory than the key. Two keys may have the same hash. */
export const hashImportKey = (key: string): number => hash('sha1', key, 'buffer').readUIntBE(0, 6);
