import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { CommandFailure } from '../errors/command-error.ts';
import type { Credential, CredentialStore } from './credential-store.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import { isUsable } from './system-keyring.ts';
import { writeProofKey } from './dpop-keys.ts';
import type { Settings } from '../settings/settings.ts';

/** Where the refresh token is: with everything else in the file of its owner, or in the keyring of the system. */
export type Storage = 'keyring' | 'file';

/** `--storage`, the environment, the profile: which one, before anybody signs in. */
export async function chosenStorage(io: Io, { config }: Settings, flag: string | undefined): Promise<Storage> {
  const wanted = flag ?? (io.env['MANDATE_STORAGE'] || (config['storage'] ?? 'auto'));
  if (!['auto', 'keyring', 'file'].includes(wanted)) {
    throw new CommandFailure(exitCodes.usage, 'usage', `--storage is auto, keyring or file, not ${JSON.stringify(wanted)}`);
  }
  if (wanted === 'file') return 'file';
  if (await isUsable(io.keyring)) return 'keyring';
  if (wanted === 'auto') return 'file';
  throw new CommandFailure(exitCodes.unforeseen, 'no_keyring', 'The keyring of this system cannot be used', {
    hint: 'Keep the tokens in a file that only you can read: mandate login --storage file',
  });
}

/** Two directories may have a profile of the same name. */
const accountOf = ({ path }: CredentialStore, profile: string): string =>
  `${profile} ${createHash('sha256').update(dirname(path)).digest('hex').slice(0, 16)}`;

export async function keptRefreshToken(
  io: Io,
  store: CredentialStore,
  profile: string,
  { refreshToken, storage }: Credential,
): Promise<string | undefined> {
  if (storage !== 'keyring') return refreshToken;
  // A token that could not be put there was left in the file.
  return refreshToken ?? (await (await io.keyring()).get(accountOf(store, profile)));
}

/** Writes the credential, and its refresh token where it belongs. Call it within `exclusively`. */
export async function keep(
  io: Io,
  store: CredentialStore,
  profile: string,
  credential: Omit<Credential, 'refreshToken'>,
  refreshToken: string | undefined,
): Promise<void> {
  if (credential.storage !== 'keyring') return store.write(profile, { ...credential, ...(refreshToken !== undefined && { refreshToken }) });
  try {
    const keyring = await io.keyring();
    const account = accountOf(store, profile);
    await (refreshToken === undefined ? keyring.remove(account) : keyring.set(account, refreshToken));
    await store.write(profile, credential);
  } catch {
    // The one before works no longer: better in the file than lost.
    await store.write(profile, { ...credential, ...(refreshToken !== undefined && { refreshToken }) });
  }
}

/** Call it within `exclusively`. */
export async function forget(io: Io, store: CredentialStore, profile: string): Promise<void> {
  const credential = await store.read(profile);
  await store.write(profile, undefined);
  await writeProofKey(store, profile, undefined);
  if (credential?.storage === 'keyring') {
    const remove = async (): Promise<void> => (await io.keyring()).remove(accountOf(store, profile));
    await remove().catch(() => undefined);
  }
}
