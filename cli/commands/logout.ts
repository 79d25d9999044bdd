import type { Command } from 'commander';
import { MandateError } from '@mandate/client-sdk';
import { discover, revoke } from '@mandate/client-sdk/authorization';
import { CommandError } from '../errors/command-error.ts';
import { createCredentialStore, type Credential, type CredentialStore } from '../sign-in/credential-store.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { readGlobalFlags, addCommandWithoutSubcommands } from './global-flags-and-command-groups.ts';
import { deleteCredentialDpopKeyAndRefreshToken, loadRefreshToken } from '../sign-in/credential-and-refresh-token-storage.ts';
import { allowsInsecureRequests } from '../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, type Settings } from '../settings/resolve-settings.ts';

export function addLogoutCommand(program: Command, io: CliEnvironment): void {
  const command = addCommandWithoutSubcommands(program, 'logout', 'Sign out')
    .description('Sign out: revoke the tokens at the service and delete them from this machine.')
    .option('--all', 'sign out of every profile')
    .action(async () =>
      logout(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(command), io), command.opts<{ all?: boolean }>().all ?? false),
    );
}

async function logout(io: CliEnvironment, settings: Settings, all: boolean): Promise<void> {
  const credentials = await createCredentialStore(settings.directory).readAll();
  const profiles = Object.keys(credentials).filter((profile) => all || profile === settings.profile);
  if (profiles.length === 0 && !settings.quiet) io.stderr.write('You were not signed in.\n');
  await signOutProfiles(io, settings, profiles);
  if (settings.token !== undefined && !settings.quiet) io.stderr.write('MANDATE_TOKEN is still set.\n');
}

/**
 * Deletes the stored credentials of these profiles and revokes their tokens. If a token could not be revoked, throws after all profiles
 * have been processed.
 */
export async function signOutProfiles(io: CliEnvironment, settings: Settings, profiles: readonly string[]): Promise<void> {
  const store = createCredentialStore(settings.directory);
  const notRevoked: string[] = [];
  for (const profile of profiles) {
    // Holds the credential lock; otherwise, a concurrent refresh in another process could leave a newer token valid.
    await store.exclusively(async () => {
      const credential = await store.read(profile);
      if (!credential) return;
      const token = await tokenToRevoke(io, store, profile, credential);
      await deleteCredentialDpopKeyAndRefreshToken(io, store, profile);
      if (!(await tryRevokeSignInTokens(io, credential, token))) notRevoked.push(profile);
    });
    if (!settings.quiet) io.stderr.write(`Signed out (profile ${profile}).\n`);
  }
  if (notRevoked.length > 0) {
    throw new CommandError(
      exitCodes.unexpectedError,
      'not_revoked',
      `The tokens were deleted from this machine but could not be revoked (profile ${notRevoked.join(', ')}). They remain valid until they expire`,
    );
  }
}

/** Returns the token to revoke: the refresh token if there is one, because revoking it also revokes all tokens issued from it. */
async function tokenToRevoke(io: CliEnvironment, store: CredentialStore, profile: string, credential: Credential): Promise<string> {
  const refreshToken = await loadRefreshToken(io, store, profile, credential).catch(() => undefined);
  return refreshToken ?? credential.accessToken;
}

/** Revokes a token and all other tokens of the same sign-in. Returns false if the service could not be reached or rejected the request. */
export async function tryRevokeSignInTokens(
  io: CliEnvironment,
  { apiUrl, issuer = apiUrl, clientId }: Pick<Credential, 'apiUrl' | 'issuer' | 'clientId'>,
  token: string,
): Promise<boolean> {
  try {
    const server = await discover(issuer, { allowInsecureRequests: allowsInsecureRequests(io), signal: io.interrupted });
    await revoke(server, clientId, token, io.interrupted);
    return true;
  } catch (error) {
    if (error instanceof MandateError) return false;
    throw error;
  }
}
