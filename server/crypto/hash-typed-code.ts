import { sha256 } from './sha256.ts';

/** Hashes a code typed by a user, ignoring case, spaces and hyphens. */
export const hashCodeTypedByUser = (code: string): string => sha256(code.toLowerCase().replaceAll(/[^a-z0-9]/g, ''), 'base64url');
