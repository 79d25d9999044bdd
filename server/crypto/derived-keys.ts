import { hkdfSync, randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One key per purpose, so that what one of them gives away says nothing about another. 32 bytes each. */
export type SecretKeys = {
  /** Signs the cookies of the sign-in pages. */
  readonly cookies: Buffer;
  /** Signs the cursors of lists. */
  readonly cursors: Buffer;
  /** Encrypts the private keys that tokens are signed with, as they lie in the database. */
  readonly signingKeys: Buffer;
  /** Encrypts messages that wait to be sent. */
  readonly mail: Buffer;
  /** Encrypts the keys of authenticator apps. */
  readonly secondFactor: Buffer;
  /** Encrypts the secrets that webhooks are signed with. */
  readonly webhooks: Buffer;
  /** Seals backups. */
  readonly backups: Buffer;
};

/** HKDF (RFC 5869) with the purpose as `info`. Another secret means other keys: cookies, cursors and signing keys are worthless then. */
export function deriveKeys(secret: string): SecretKeys {
  const key = (purpose: string): Buffer => Buffer.from(hkdfSync('sha256', secret, 'mandate', purpose, 32));
  return {
    cookies: key('cookies'),
    cursors: key('cursors'),
    signingKeys: key('signing-keys'),
    mail: key('mail'),
    secondFactor: key('second-factor'),
    webhooks: key('webhooks'),
    backups: key('backups'),
  };
}

const secretPath = (dataDirectory: string): string => join(dataDirectory, 'secret');

/** The secret that was kept, if there is one: for whoever must not make one up. */
export const existingSecret = (dataDirectory: string): Promise<string | undefined> =>
  readFile(secretPath(dataDirectory), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });

/** For development: a secret made once and kept in the data directory, readable by its owner alone. */
export async function keptSecret(dataDirectory: string): Promise<string> {
  const path = secretPath(dataDirectory);
  await mkdir(dataDirectory, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    // a link is there whole or not at all, and of two processes one is first
    await writeFile(draft, randomBytes(32).toString('base64url'), { mode: 0o600, flush: true });
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  return readFile(path, 'utf8');
}
