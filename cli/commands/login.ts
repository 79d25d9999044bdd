import { Option, type Command } from 'commander';
import type { User } from '@mandate/client-sdk';
import {
  discover,
  exportProofKey,
  memoryStore,
  newProofKey,
  refreshingTokens,
  type ProofKey,
  type Tokens,
} from '@mandate/client-sdk/authorization';
import { signInWithBrowser } from '../sign-in/browser-sign-in.ts';
import { CommandFailure } from '../errors/command-error.ts';
import type { Credential } from '../sign-in/credential-store.ts';
import { signInWithDevice } from '../sign-in/device-sign-in.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { readGivenToken } from '../sign-in/pasted-token.ts';
import type { Io } from '../environment.ts';
import { plainText, printableJson } from '../terminal/safe-terminal-text.ts';
import { writeProofKey } from '../sign-in/dpop-keys.ts';
import { readLine } from '../terminal/read-line.ts';
import { globalFlagsOf, leafCommand, noteChoices } from '../command-helpers.ts';
import { durationMs } from '../contract-commands/parse-flags.ts';
import { chosenStorage, keep, type Storage } from '../sign-in/refresh-token-storage.ts';
import { clientAt, insecureAllowed, openSession, type Session } from '../sign-in/session.ts';
import { settingsOf, type GlobalFlags, type Settings } from '../settings/settings.ts';
import { signInMode, type SignInMode } from '../sign-in/sign-in-methods.ts';
import { revokeTokens } from './logout.ts';

const clientId = 'mandate-cli';
/** What a customer needs to place orders, to pay for them and to see both. */
const defaultScopes = ['users.read', 'orders.read', 'orders.write', 'payments.read', 'payments.write'];
/** Who the person is, and that the sign-in outlives the first token. */
const alwaysAsked = ['openid', 'offline_access'];
const waitUsualMs = 300_000;
/** `--force` repeats every sign-in that is older, in seconds: a browser that is still signed in does not count as a new sign-in. */
const forcedMaxAge = 60;
/** Creating an API key takes a sign-in that is not older than 15 minutes: this leaves time for the next command, in seconds. */
const keyMaxAge = 300;

type LoginFlags = {
  readonly browser: boolean;
  readonly device?: boolean;
  readonly withToken?: boolean;
  readonly port?: string;
  readonly scopes?: string;
  readonly storage?: string;
  readonly dpop: boolean;
  readonly force?: boolean;
};
type Login = {
  readonly io: Io;
  readonly settings: Settings;
  readonly flags: LoginFlags;
  readonly mode: SignInMode;
  readonly waitMs: number;
};

export function addLogin(program: Command, io: Io): void {
  const command = leafCommand(program, 'login', 'Sign in')
    .description(
      'Sign in with a browser: on this machine, or, where there is none to open, on any other by a code. Who takes longer than --timeout, 5m, has to begin again.',
    )
    .option('--device', 'print a code to type on another machine')
    .option('--no-browser', 'only print the address to open on this machine')
    .option('--with-token', 'read an access token or API key from standard input')
    .option('--port <n>', 'listen on this port of 127.0.0.1 for the browser to come back to')
    .option('--scopes <names>', 'what to ask for, separated by commas; +name adds to what is granted already')
    .addOption(
      noteChoices(new Option('--storage <where>', 'where the refresh token is kept: auto, keyring or file (MANDATE_STORAGE)'), [
        'auto',
        'keyring',
        'file',
      ]),
    )
    .option('--no-dpop', 'tokens that any program can use, in place of ones bound to a key of this machine')
    .option('--force', 'sign in again with the same scopes, even if signed in already')
    .action(async () => {
      const flags = command.opts<LoginFlags>();
      const given = globalFlagsOf(command);
      const settings = settingsOf(given, io);
      await login({ io, settings, flags, mode: signInMode(io, settings, flags), waitMs: waitMsOf(given) });
    });
}

/** Here the flag is for the person; the time for a single request may still come from the surroundings. */
const waitMsOf = ({ timeout }: GlobalFlags): number => (timeout === undefined ? undefined : durationMs(timeout)) ?? waitUsualMs;

async function login(given: Login): Promise<void> {
  const { io, settings, flags, mode } = given;
  if (settings.token !== undefined) {
    throw new CommandFailure(exitCodes.usage, 'usage', 'MANDATE_TOKEN is set and would win over signing in; unset it first', {
      hint: 'unset MANDATE_TOKEN',
    });
  }
  portOf(flags.port);
  const session = await openSession(io, settings);
  const granted = session.credential?.scopes ?? [];
  const scopes = askedScopes(flags, granted);
  const storage = await chosenStorage(io, settings, flags.storage);
  if (mode === 'token') return loginWithToken(given, session);
  if (!flags.force && scopes.every((scope) => granted.includes(scope)) && (await isSignedIn(session))) {
    return tell(io, settings, 'Already signed in', session.credential);
  }
  const proofKey = flags.dpop && settings.config['dpop'] !== 'off' ? await newProofKey({ extractable: true }) : undefined;
  const tokens = await signIn(given, session, scopes, proofKey);
  const { apiUrl, store } = session;
  const user = tokens.scopes.includes('users.read')
    ? await clientAt(io, settings, apiUrl, refreshingTokens({ issuer: apiUrl, clientId, store: memoryStore(tokens), proofKey })).users.me({
        signal: io.interrupted,
      })
    : undefined;
  const credential = { ...credentialOf(settings, apiUrl, tokens, user, storage), bound: proofKey !== undefined };
  const missing = apiScopes(scopes).filter((scope) => !tokens.scopes.includes(scope));
  if (missing.length > 0 && (await isWorse(session, credential))) {
    await revokeTokens(io, credential, tokens.refreshToken ?? tokens.accessToken);
    throw notGranted(missing, user, `The earlier login of profile ${settings.profile} is kept.`);
  }
  await store.exclusively(async () => {
    await writeProofKey(store, settings.profile, proofKey && (await exportProofKey(proofKey)));
    await keep(io, store, settings.profile, credential, tokens.refreshToken);
  });
  tell(io, settings, 'Signed in', credential, `Credentials: ${storage === 'keyring' ? 'system keyring' : store.path}.`);
  if (missing.length === 0) return;
  if (flags.scopes !== undefined) throw notGranted(missing, user, 'The other scopes were granted.');
  io.stderr.write(`Not granted: ${missing.join(' ')}\n`);
}

const apiScopes = (scopes: readonly string[]): string[] => scopes.filter((scope) => scope.includes('.'));

/** Whether the earlier login still works, and the new one is of another user or grants no more. */
async function isWorse(session: Session, { scopes, user }: Pick<Credential, 'scopes' | 'user'>): Promise<boolean> {
  const earlier = session.credential;
  if (!earlier) return false;
  const isOtherUser = user !== undefined && earlier.user !== undefined && user.id !== earlier.user.id;
  const grantsMore = earlier.scopes.every((scope) => scopes.includes(scope)) && scopes.length > earlier.scopes.length;
  return (isOtherUser || !grantsMore) && isSignedIn(session);
}

function notGranted(missing: readonly string[], user: User | undefined, result: string): CommandFailure {
  const by = user ? ` by ${user.email}` : '';
  const flag = missing.map((scope) => `+${scope}`).join(',');
  return new CommandFailure(exitCodes.notAllowed, 'insufficient_scope', `Not granted${by}: ${missing.join(', ')}. ${result}`, {
    hint: `To sign in as a user who can grant it, choose "Use another account" in the browser: mandate login --scopes ${flag}`,
  });
}

async function loginWithToken({ io, settings }: Login, { apiUrl, store }: Session): Promise<void> {
  if (io.stdinIsTTY && !settings.quiet) io.stderr.write('Paste the token and press Enter:\n');
  const given = readGivenToken((await readLine(io)) ?? '');
  const result = await clientAt(io, settings, apiUrl, given.accessToken).users.me({ signal: io.interrupted }).safe();
  // A token may be good without saying who its person is.
  if (!result.ok && result.error.code !== 'insufficient_scope') throw result.error;
  const user = result.ok ? result.data : undefined;
  const credential = credentialOf(settings, apiUrl, given, user, 'file');
  await store.exclusively(() => keep(io, store, settings.profile, credential, undefined));
  tell(io, settings, 'Signed in', credential, `Credentials: ${store.path}.`);
}

function askedScopes({ scopes: text, force = false }: LoginFlags, granted: readonly string[]): string[] {
  const names = text?.split(/[\s,]+/).filter(Boolean) ?? [];
  const wrong = names.find((name) => !/^\+?[a-z]+(?:[._][a-z]+)*$/.test(name));
  if (wrong !== undefined)
    throw new CommandFailure(exitCodes.usage, 'usage', `A scope is called like orders.read, not ${JSON.stringify(wrong)}`);
  const added = names.filter((name) => name.startsWith('+')).map((name) => name.slice(1));
  const named = names.filter((name) => !name.startsWith('+'));
  const base = named.length > 0 ? named : granted.length > 0 && (added.length > 0 || force) ? granted : defaultScopes;
  return [...new Set([...alwaysAsked, ...base, ...added])];
}

/** Asks the service: what is kept here may have been revoked there. */
async function isSignedIn({ client, credential }: Session): Promise<boolean> {
  if (!credential) return false;
  const result = credential.scopes.includes('users.read') ? await client.users.me().safe() : await client.orders.list({ limit: 1 }).safe();
  return result.ok;
}

async function signIn(
  { io, settings, flags, mode, waitMs }: Login,
  { apiUrl }: Session,
  scopes: string[],
  proofKey: ProofKey | undefined,
): Promise<Tokens> {
  const issuer = settings.config['issuer'] ?? apiUrl;
  const server = await discover(issuer, { allowInsecureRequests: insecureAllowed(io), signal: io.interrupted, proofKey });
  const how = { clientId, scopes, waitMs, maxAge: maxAgeOf(flags, scopes) };
  if (mode === 'device') return signInWithDevice(io, settings, server, how);
  return signInWithBrowser(io, server, how, { opens: mode === 'browser', port: portOf(flags.port) });
}

function maxAgeOf({ force }: LoginFlags, scopes: readonly string[]): number | undefined {
  if (force) return forcedMaxAge;
  return scopes.includes('api_keys.manage') ? keyMaxAge : undefined;
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new CommandFailure(exitCodes.usage, 'usage', `--port is a number up to 65535, not ${JSON.stringify(text)}`);
  return port;
}

function credentialOf(
  { config }: Settings,
  apiUrl: string,
  { accessToken, expiresAt, scopes }: Tokens,
  user: User | undefined,
  storage: Storage,
): Omit<Credential, 'refreshToken'> {
  return {
    apiUrl,
    ...(config['issuer'] !== undefined && { issuer: config['issuer'] }),
    clientId,
    accessToken,
    expiresAt,
    storage,
    scopes,
    ...(user && { user: { id: user.id, name: user.name, email: user.email } }),
  };
}

function tell(io: Io, settings: Settings, what: string, credential: Credential | undefined, more = ''): void {
  const scopes = credential?.scopes ?? [];
  if (settings.format !== 'text') {
    io.stdout.write(
      `${printableJson({ profile: settings.profile, api_url: credential?.apiUrl, user: credential?.user ?? null, scopes })}\n`,
    );
  }
  if (settings.quiet) return;
  const who = credential?.user ? ` as ${credential.user.email}` : '';
  const particulars = [`profile ${settings.profile}`, ...(scopes.length > 0 ? [`scopes ${apiScopes(scopes).join(' ')}`] : [])];
  io.stderr.write(`${plainText(`${what}${who} (${particulars.join(', ')}). ${more}`).trim()}\n`);
}
