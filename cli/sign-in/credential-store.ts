import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../errors/command-error.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { withFileLock } from '../files/file-lock.ts';
import { readJsonFileOrEmptyObject } from '../files/read-json-file-or-empty-object.ts';
import { replaceFileAtomically } from '../files/replace-file-atomically.ts';
import { isRecord } from '../schema/find-schema-violations.ts';

/** The stored result of `mandate login` for one profile. */
export type Credential = {
  /** The only origin that the tokens are sent to. */
  readonly apiUrl: string;
  /** URL of the authorization server, if it differs from `apiUrl`. */
  readonly issuer?: string;
  readonly clientId: string;
  readonly accessToken: string;
  readonly expiresAt: number;
  /** Absent if `storage` is `keyring`. */
  readonly refreshToken?: string;
  readonly storage?: 'keyring' | 'file';
  /** Whether the tokens require a DPoP proof (RFC 9449). */
  readonly bound?: boolean;
  readonly scopes: readonly string[];
  readonly user?: { readonly id: number; readonly name: string; readonly email: string };
};

type Credentials = Readonly<Record<string, Credential>>;

/** Stores the credentials of all profiles in one file that only its owner can read. */
export type CredentialStore = {
  readonly path: string;
  read(profile: string): Promise<Credential | undefined>;
  readAll(): Promise<Credentials>;
  /** Saves a profile's credential, or deletes the stored one if `undefined` is passed. The caller must hold the lock (`exclusively`). */
  write(profile: string, credential: Credential | undefined): Promise<void>;
  /** Runs `work` while holding the lock of the file, so that no other process changes the file. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
};

export function createCredentialStore(directory: string): CredentialStore {
  const path = join(directory, 'credentials.json');
  const readAll = () => readCredentials(path);
  return {
    path,
    readAll,
    read: async (profile) => (await readAll())[profile],
    write: async (profile, credential) => {
      const { [profile]: _, ...others } = await readAll();
      await replaceFileAtomically(path, `${JSON.stringify(credential ? { ...others, [profile]: credential } : others, null, 2)}\n`);
    },
    exclusively: async (work) => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      return withFileLock(`${path}.lock`, work);
    },
  };
}

async function readCredentials(path: string): Promise<Credentials> {
  const parsed = await readJsonFileOrEmptyObject(path);
  if (isRecord(parsed)) {
    const entries = Object.entries(parsed).flatMap(([profile, value]) => (isCredential(value) ? [[profile, value] as const] : []));
    if (entries.length === Object.keys(parsed).length) return Object.fromEntries(entries);
  }
  throw new CommandError(exitCodes.unexpectedError, 'broken_credentials', `${path} is not a valid credential file`, {
    hint: `Remove it and sign in again: rm ${path} && mandate login`,
  });
}

const isCredential = (value: unknown): value is Credential =>
  isRecord(value) &&
  ['apiUrl', 'clientId', 'accessToken'].every((name) => typeof value[name] === 'string') &&
  typeof value['expiresAt'] === 'number' &&
  Array.isArray(value['scopes']) &&
  value['scopes'].every((scope) => typeof scope === 'string') &&
  ['refreshToken', 'issuer', 'storage'].every((name) => value[name] === undefined || typeof value[name] === 'string') &&
  (value['user'] === undefined || isRecord(value['user']));
