import { hash } from 'node:crypto';

/** Returns the SHA-256 hash of data. */
export const sha256 = (data: string | NodeJS.ArrayBufferView, encoding: 'base64url' | 'hex'): string => hash('sha256', data, encoding);
