import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { CommandError } from '../errors/command-error.ts';
import type { Credential, CredentialStore } from './credential-store.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { isSystemKeyringUsable } from '../environment/system-keyring.ts';
import { saveOrDeleteDpopKey } from './dpop-keys.ts';
import type { Settings } from '../settings/resolve-settings.ts';

/** Where the refresh token is stored: in the credential file, or in the system keyring. */
export type RefreshTokenStorage = 'keyring' | 'file';

/** Chooses the storage before the sign-in: from `--storage`, the environment or the profile, in that order. */
export async function chooseRefreshTokenStorage(
  io: CliEnvironment,
  { config }: Settings,
  flag: string | undefined,
): Promise<RefreshTokenStorage> {
  const requested = flag ?? (io.env['MANDATE_STORAGE'] || (config['storage'] ?? 'auto'));
  if (!['auto', 'keyring', 'file'].includes(requested)) {
    throw new CommandError(exitCodes.usage, 'usage', `--storage must be auto, keyring or file, not ${JSON.stringify(requested)}`);
  }
  if (requested === 'file') return 'file';
  if (await isSystemKeyringUsable(io.keyring)) return 'keyring';
  if (requested === 'auto') return 'file';
  throw new CommandError(exitCodes.unexpectedError, 'no_keyring', 'The system keyring is not available', {
    hint: 'Store the tokens in a file that only you can read: mandate login --storage file',
  });
}

/**
 * Returns a profile's keyring account. The account name contains a hash of the directory, because profiles in two directories may share a
 * name.
 */
const keyringAccount = ({ path }: CredentialStore, profile: string): string =>
  `${profile} ${createHash('sha256').update(dirname(path)).digest('hex').slice(0, 16)}`;

/** Returns a profile's refresh token from the credential file or the keyring. */
export async function loadRefreshToken(
  io: CliEnvironment,
  store: CredentialStore,
  profile: string,
  { refreshToken, storage }: Credential,
): Promise<string | undefined> {
  if (storage !== 'keyring') return refreshToken;
  // If the token could not be written to the keyring, it is stored in the credential file.
  return refreshToken ?? (await (await io.keyring()).get(keyringAccount(store, profile)));
}

/** Saves the credential, and stores its refresh token in the file or the keyring. The caller must hold the lock (`exclusively`). */
export async function saveCredentialAndRefreshToken(
  io: CliEnvironment,
  store: CredentialStore,
  profile: string,
  credential: Omit<Credential, 'refreshToken'>,
  refreshToken: string | undefined,
): Promise<void> {
  if (credential.storage !== 'keyring') return store.write(profile, { ...credential, ...(refreshToken !== undefined && { refreshToken }) });
  try {
    const keyring = await io.keyring();
    const account = keyringAccount(store, profile);
    await (refreshToken === undefined ? keyring.remove(account) : keyring.set(account, refreshToken));
    await store.write(profile, credential);
  } catch {
    // If the keyring fails, the new refresh token is saved in the file, because the previous one is no longer valid.
    await store.write(profile, { ...credential, ...(refreshToken !== undefined && { refreshToken }) });
  }
}

/** Deletes a profile's credential, DPoP key and refresh token. The caller must hold the lock (`exclusively`). */
export async function deleteCredentialDpopKeyAndRefreshToken(io: CliEnvironment, store: CredentialStore, profile: string): Promise<void> {
  const credential = await store.read(profile);
  await store.write(profile, undefined);
  await saveOrDeleteDpopKey(store, profile, undefined);
  if (credential?.storage === 'keyring') {
    const remove = async (): Promise<void> => (await io.keyring()).remove(keyringAccount(store, profile));
    await remove().catch(() => undefined);
  }
}
