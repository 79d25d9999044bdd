import type { Command } from 'commander';
import { CommandError } from '../errors/command-error.ts';
import { scopeSummaries } from '../contract-commands/commands.gen.ts';
import { createCredentialStore } from '../sign-in/credential-store.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { readGlobalFlags, addCommandGroup, addCommandWithoutSubcommands } from './global-flags-and-command-groups.ts';
import { parseDurationMs } from '../settings/parse-duration.ts';
import { openProfileSession, assertSignedIn, createProfileTokenSource } from '../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, addProfileToLoginHint, type Settings } from '../settings/resolve-settings.ts';
import { assertRequestedFieldsKnown, printResult } from '../output/print-result.ts';

export function addAuthStatusTokenAndScopesCommands(program: Command, io: CliEnvironment): void {
  const group = addCommandGroup(program, 'auth', 'Show sign-ins and scopes, and print the access token');
  const status = addCommandWithoutSubcommands(group, 'status', 'List all sign-ins and show which one is in use').action(async () =>
    showStatus(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(status), io)),
  );
  const token = addCommandWithoutSubcommands(group, 'token', 'Print the access token for use in another program')
    .option('--min-ttl <duration>', 'renew the token if it expires within this time (default: 60s)')
    .action(async () =>
      printToken(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(token), io), token.opts<{ minTtl?: string }>().minTtl),
    );
  const scopes = addCommandWithoutSubcommands(group, 'scopes', 'List all scopes and show which ones are granted').action(async () =>
    showScopes(io, settingsFromFlagsEnvironmentAndProfile(readGlobalFlags(scopes), io)),
  );
}

const statusColumns = ['source', 'used', 'user', 'api_url', 'scopes', 'expires_at', 'renewable', 'storage'];

async function showStatus(io: CliEnvironment, settings: Settings): Promise<void> {
  assertRequestedFieldsKnown(settings, statusColumns);
  const store = createCredentialStore(settings.directory);
  const signIns = Object.entries(await store.readAll()).map(
    ([profile, { apiUrl, user, scopes, expiresAt, refreshToken, storage = 'file' }]) => ({
      source: `profile ${profile}`,
      used: settings.token === undefined && profile === settings.profile,
      user: user?.email ?? null,
      api_url: apiUrl,
      scopes: scopes.join(' '),
      expires_at: Number.isFinite(expiresAt) && expiresAt < 8.64e15 ? new Date(expiresAt).toISOString() : null,
      renewable: storage === 'keyring' || refreshToken !== undefined,
      storage: storage === 'keyring' ? 'system keyring' : store.path,
    }),
  );
  const environment = { source: 'MANDATE_TOKEN', used: true, user: null, api_url: settings.apiUrl ?? null, scopes: null };
  const data = [
    ...(settings.token === undefined ? [] : [{ ...environment, expires_at: null, renewable: false, storage: null }]),
    ...signIns,
  ];
  if (data.length === 0 && !settings.quiet)
    io.stderr.write(addProfileToLoginHint(io, 'You are not signed in. Sign in with: mandate login\n'));
  printResult(io, settings, { data }, statusColumns);
}

async function printToken(io: CliEnvironment, settings: Settings, minTtl: string | undefined): Promise<void> {
  const ttlMs = minTtl === undefined ? 60_000 : parseDurationMs(minTtl);
  if (ttlMs === undefined) {
    throw new CommandError(exitCodes.usage, 'usage', `--min-ttl must be a duration such as 60s or 5m, not ${JSON.stringify(minTtl)}`);
  }
  const session = await openProfileSession(io, settings);
  assertSignedIn(session);
  const { credential, store } = session;
  const token =
    settings.token ??
    (credential && (await ensureTokenTtl(createProfileTokenSource(io, store, settings.profile, credential), credential, ttlMs)));
  if (credential?.bound && !settings.quiet) {
    const hint = addProfileToLoginHint(io, 'Get a token for other programs with: mandate login --no-dpop');
    io.stderr.write(`This token is bound to a key on this machine, so other programs cannot use it. ${hint}\n`);
  } else if (io.stdout.isTTY && !settings.quiet) io.stderr.write('Anyone who has this token can act as you until it expires.\n');
  io.stdout.write(settings.format === 'text' ? `${token}\n` : `${JSON.stringify({ access_token: token })}\n`);
}

/** Returns the access token. Renews the token first if it expires within `ttlMs`. */
async function ensureTokenTtl(
  source: ReturnType<typeof createProfileTokenSource>,
  { accessToken, expiresAt }: { accessToken: string; expiresAt: number },
  ttlMs: number,
): Promise<string> {
  if (expiresAt - Date.now() >= ttlMs) return accessToken;
  return (await source.replacement?.(accessToken)) ?? source.accessToken();
}

async function showScopes(io: CliEnvironment, settings: Settings): Promise<void> {
  const names = ['scope', 'granted', 'allows'];
  assertRequestedFieldsKnown(settings, names);
  const { credential } = await openProfileSession(io, settings);
  const granted = credential?.scopes ?? [];
  const data = Object.entries(scopeSummaries).map(([scope, allows]) => ({ scope, granted: granted.includes(scope), allows }));
  printResult(io, settings, { data }, names);
}
