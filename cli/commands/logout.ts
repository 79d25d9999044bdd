import type { Command } from 'commander';
import { MandateError } from '@mandate/client-sdk';
import { discover, revoke } from '@mandate/client-sdk/authorization';
import { CommandFailure } from '../errors/command-error.ts';
import { credentialStore, type Credential, type CredentialStore } from '../sign-in/credential-store.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import { globalFlagsOf, leafCommand } from '../command-helpers.ts';
import { forget, keptRefreshToken } from '../sign-in/refresh-token-storage.ts';
import { insecureAllowed } from '../sign-in/session.ts';
import { settingsOf, type Settings } from '../settings/settings.ts';

export function addLogout(program: Command, io: Io): void {
  const command = leafCommand(program, 'logout', 'Sign out')
    .description('Sign out: the service is told that the tokens shall not work any longer, and they are forgotten here.')
    .option('--all', 'every profile')
    .action(async () => logout(io, settingsOf(globalFlagsOf(command), io), command.opts<{ all?: boolean }>().all ?? false));
}

async function logout(io: Io, settings: Settings, all: boolean): Promise<void> {
  const kept = await credentialStore(settings.directory).readAll();
  const profiles = Object.keys(kept).filter((profile) => all || profile === settings.profile);
  if (profiles.length === 0 && !settings.quiet) io.stderr.write('Nobody was signed in.\n');
  await signOut(io, settings, profiles);
  if (settings.token !== undefined && !settings.quiet) io.stderr.write('MANDATE_TOKEN is still set.\n');
}

/** Forgets what these profiles have kept, whether the service can be told or not. */
export async function signOut(io: Io, settings: Settings, profiles: readonly string[]): Promise<void> {
  const store = credentialStore(settings.directory);
  const untold: string[] = [];
  for (const profile of profiles) {
    // Within the lock: a refresh under way elsewhere would leave a newer token alive.
    await store.exclusively(async () => {
      const credential = await store.read(profile);
      if (!credential) return;
      const token = await revocable(io, store, profile, credential);
      await forget(io, store, profile);
      if (!(await revokeTokens(io, credential, token))) untold.push(profile);
    });
    if (!settings.quiet) io.stderr.write(`Signed out (profile ${profile}).\n`);
  }
  if (untold.length > 0) {
    throw new CommandFailure(
      exitCodes.unforeseen,
      'not_revoked',
      `The tokens are forgotten here, but the service could not be told (profile ${untold.join(', ')}); they work there until they expire`,
    );
  }
}

/** Revoking the refresh token ends everything that came from it. */
async function revocable(io: Io, store: CredentialStore, profile: string, credential: Credential): Promise<string> {
  const refreshToken = await keptRefreshToken(io, store, profile, credential).catch(() => undefined);
  return refreshToken ?? credential.accessToken;
}

/** Revokes a token and everything that came from the same sign-in. Returns false when the service cannot be told. */
export async function revokeTokens(
  io: Io,
  { apiUrl, issuer = apiUrl, clientId }: Pick<Credential, 'apiUrl' | 'issuer' | 'clientId'>,
  token: string,
): Promise<boolean> {
  try {
    const server = await discover(issuer, { allowInsecureRequests: insecureAllowed(io), signal: io.interrupted });
    await revoke(server, clientId, token, io.interrupted);
    return true;
  } catch (error) {
    if (error instanceof MandateError) return false;
    throw error;
  }
}
