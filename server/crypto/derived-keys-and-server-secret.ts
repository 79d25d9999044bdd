import { hkdfSync, randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One 32-byte key per purpose, so that a leaked key reveals nothing about the other keys. */
export type DerivedKeys = {
  /** Used to sign cookies set by the sign-in pages. */
  readonly cookies: Buffer;
  /** Used to sign pagination cursors. */
  readonly cursors: Buffer;
  /** Used to encrypt the private token signing keys in the database. */
  readonly signingKeys: Buffer;
  /** Used to encrypt queued mail. */
  readonly mail: Buffer;
  /** Used to encrypt the TOTP secrets of authenticator apps. */
  readonly secondFactor: Buffer;
  /** Used to encrypt webhook signing secrets. */
  readonly webhooks: Buffer;
  /** Used to encrypt the credentials for identity providers, and pending sign-ins through them. */
  readonly identityProviders: Buffer;
  /** Used to authenticate backups. */
  readonly backups: Buffer;
};

/** Derives the keys with HKDF (RFC 5869), using the purpose as `info`. A new secret invalidates all cookies, cursors and encrypted data. */
export function deriveKeys(secret: string): DerivedKeys {
  const deriveKey = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secret, 'mandate', purpose, 32));
  return {
    cookies: deriveKey('cookies'),
    cursors: deriveKey('cursors'),
    signingKeys: deriveKey('signing-keys'),
    mail: deriveKey('mail'),
    secondFactor: deriveKey('second-factor'),
    webhooks: deriveKey('webhooks'),
    identityProviders: deriveKey('identity-providers'),
    backups: deriveKey('backups'),
  };
}

const secretPath = (dataDirectory: string): string => join(dataDirectory, 'secret');

/** Returns the stored secret, if any, for commands that must not generate a secret. */
export const findStoredServerSecret = (dataDirectory: string): Promise<string | undefined> =>
  readFile(secretPath(dataDirectory), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });

/**
 * Returns the secret stored in the data directory (readable only by its owner), and generates a secret on the first call. Intended for
 * development.
 */
export async function loadOrCreateServerSecret(dataDirectory: string): Promise<string> {
  const path = secretPath(dataDirectory);
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const temporaryPath = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    // A hard link is created atomically, and only one of several processes can create it.
    await writeFile(temporaryPath, randomBytes(32).toString('base64url'), { mode: 0o600, flush: true });
    await link(temporaryPath, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(temporaryPath, { force: true });
  }
  return readFile(path, 'utf8');
}
