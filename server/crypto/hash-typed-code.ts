import { sha256 } from './sha256.ts';

/** Hashes a code that a user types. Case, spaces and hyphens do not matter. */
export const hashCodeTypedByUser = (code: string): string => sha256(code.toLowerCase().replaceAll(/[^a-z0-9]/g, ''), 'base64url');
