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
import { signInWithBrowser } from '../sign-in/sign-in-with-browser.ts';
import { CommandError } from '../errors/command-error.ts';
import type { Credential } from '../sign-in/credential-store.ts';
import { signInWithDeviceCode } from '../sign-in/sign-in-with-device-code.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import { parsePastedToken } from '../sign-in/parse-pasted-token.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { sanitizeForTerminal, serializeJsonForTerminal } from '../terminal/sanitize-and-measure-terminal-text.ts';
import { saveOrDeleteDpopKey } from '../sign-in/dpop-keys.ts';
import { readLine } from '../terminal/read-line.ts';
import { readGlobalFlags, addCommandWithoutSubcommands, setCompletionChoices } from './global-flags-and-command-groups.ts';
import { addOrderLimitFlags } from './add-order-limit-flags.ts';
import { parseOrderLimitFlags, type OrderLimitFlags, type OrderLimitsFromFlags } from '../order-limits/parse-order-limit-flags.ts';
import { parseDurationMs } from '../settings/parse-duration.ts';
import {
  chooseRefreshTokenStorage,
  saveCredentialAndRefreshToken,
  type RefreshTokenStorage,
} from '../sign-in/credential-and-refresh-token-storage.ts';
import { createApiClient, allowsInsecureRequests, openProfileSession, type ProfileSession } from '../sign-in/profile-session.ts';
import { settingsFromFlagsEnvironmentAndProfile, type GlobalFlags, type Settings } from '../settings/resolve-settings.ts';
import { chooseSignInMode, type SignInMode } from '../sign-in/sign-in-mode-abort-signal-and-denial.ts';
import { tryRevokeSignInTokens } from './logout.ts';

const clientId = 'mandate-cli';
/** The scopes that customers need to place, pay for and read their orders. */
const defaultScopes = ['users.read', 'orders.read', 'orders.write', 'payments.read', 'payments.write'];
/** The scopes that every sign-in requests: `openid` identifies the user, and `offline_access` grants a refresh token. */
const alwaysRequestedScopes = ['openid', 'offline_access'];
const defaultSignInTimeoutMs = 300_000;
/** Maximum sign-in age (`max_age`) for `--force`, in seconds. Users must sign in again even if the browser session is still active. */
const forcedMaxAge = 60;
/**
 * Maximum sign-in age (`max_age`) for a sign-in that requests `api_keys.manage`, in seconds. The API accepts sign-ins that are up to 15
 * minutes old, so the user has at least ten minutes to run the next command.
 */
const apiKeyMaxAge = 300;

type LoginFlags = OrderLimitFlags & {
  readonly browser: boolean;
  readonly device?: boolean;
  readonly withToken?: boolean;
  readonly port?: string;
  readonly scopes?: string;
  readonly storage?: string;
  readonly dpop: boolean;
  readonly force?: boolean;
};
type LoginContext = {
  readonly io: CliEnvironment;
  readonly settings: Settings;
  readonly flags: LoginFlags;
  readonly mode: SignInMode;
  readonly waitMs: number;
  /** The order limits to request. */
  readonly limits: OrderLimitsFromFlags | undefined;
};

export function addLoginCommand(program: Command, io: CliEnvironment): void {
  const command = addCommandWithoutSubcommands(program, 'login', 'Sign in')
    .description(
      'Sign in with a browser on this machine or, if no browser can be opened, with a code that you enter in a browser on any machine. The sign-in must be completed within --timeout (default: 5m).',
    )
    .option('--device', 'print a code that you enter in a browser on any machine')
    .option('--no-browser', 'print the URL instead of opening it in the browser')
    .option('--with-token', 'read an access token or API key from standard input')
    .option('--port <n>', 'port on 127.0.0.1 that receives the browser redirect')
    .option('--scopes <names>', 'comma-separated scopes to request; +name adds a scope to those already granted')
    .addOption(
      setCompletionChoices(new Option('--storage <where>', 'where to store the refresh token: auto, keyring or file (MANDATE_STORAGE)'), [
        'auto',
        'keyring',
        'file',
      ]),
    )
    .option('--no-dpop', 'get tokens that other programs can use, instead of tokens bound to a key on this machine')
    .option('--force', 'sign in again with the same scopes, even if already signed in');
  addOrderLimitFlags(command).action(async () => {
    const flags = command.opts<LoginFlags>();
    const globalFlags = readGlobalFlags(command);
    const settings = settingsFromFlagsEnvironmentAndProfile(globalFlags, io);
    const limits = parseOrderLimitFlags(flags, new Date());
    await login({ io, settings, flags, mode: chooseSignInMode(io, settings, flags), waitMs: signInTimeoutMs(globalFlags), limits });
  });
}

/** Returns the time limit for the sign-in: `--timeout`, or five minutes by default. The configured request timeout does not apply. */
const signInTimeoutMs = ({ timeout }: GlobalFlags): number =>
  (timeout === undefined ? undefined : parseDurationMs(timeout)) ?? defaultSignInTimeoutMs;

async function login(context: LoginContext): Promise<void> {
  const { io, settings, flags, mode, limits } = context;
  if (settings.token !== undefined) {
    throw new CommandError(exitCodes.usage, 'usage', 'MANDATE_TOKEN is set and would override the sign-in; unset it first', {
      hint: 'unset MANDATE_TOKEN',
    });
  }
  parsePort(flags.port);
  const session = await openProfileSession(io, settings);
  const granted = session.credential?.scopes ?? [];
  const scopes = requestedScopes(flags, granted);
  const storage = await chooseRefreshTokenStorage(io, settings, flags.storage);
  if (mode === 'token') return loginWithToken(context, session);
  if (!flags.force && !limits && scopes.every((scope) => granted.includes(scope)) && (await isSignedIn(session))) {
    return printSignIn(io, settings, 'Already signed in', session.credential);
  }
  const proofKey = flags.dpop && settings.config['dpop'] !== 'off' ? await newProofKey({ extractable: true }) : undefined;
  const tokens = await signIn(context, session, scopes, proofKey);
  const { apiUrl, store } = session;
  const user = tokens.scopes.includes('users.read')
    ? await createApiClient(
        io,
        settings,
        apiUrl,
        refreshingTokens({ issuer: apiUrl, clientId, store: memoryStore(tokens), proofKey }),
      ).users.me({
        signal: io.interrupted,
      })
    : undefined;
  const credential = { ...toCredential(settings, apiUrl, tokens, user, storage), bound: proofKey !== undefined };
  const missing = apiScopes(scopes).filter((scope) => !tokens.scopes.includes(scope));
  if (missing.length > 0 && (await shouldKeepPreviousSignIn(session, credential))) {
    await tryRevokeSignInTokens(io, credential, tokens.refreshToken ?? tokens.accessToken);
    throw notGrantedError(missing, user, `Profile ${settings.profile} keeps its previous sign-in.`);
  }
  await store.exclusively(async () => {
    await saveOrDeleteDpopKey(store, settings.profile, proofKey && (await exportProofKey(proofKey)));
    await saveCredentialAndRefreshToken(io, store, settings.profile, credential, tokens.refreshToken);
  });
  printSignIn(io, settings, 'Signed in', credential, `Credentials: ${storage === 'keyring' ? 'system keyring' : store.path}.`);
  if (missing.length === 0) return;
  if (flags.scopes !== undefined) throw notGrantedError(missing, user, 'The other scopes were granted.');
  io.stderr.write(`Not granted: ${missing.join(' ')}\n`);
}

const apiScopes = (scopes: readonly string[]): string[] => scopes.filter((scope) => scope.includes('.'));

/**
 * Returns whether to keep the previous sign-in: true if it is still valid and the new sign-in either belongs to another user or has no
 * additional scopes.
 */
async function shouldKeepPreviousSignIn(session: ProfileSession, { scopes, user }: Pick<Credential, 'scopes' | 'user'>): Promise<boolean> {
  const previous = session.credential;
  if (!previous) return false;
  const isOtherUser = user !== undefined && previous.user !== undefined && user.id !== previous.user.id;
  const grantsMore = previous.scopes.every((scope) => scopes.includes(scope)) && scopes.length > previous.scopes.length;
  return (isOtherUser || !grantsMore) && isSignedIn(session);
}

function notGrantedError(missing: readonly string[], user: User | undefined, result: string): CommandError {
  const by = user ? ` by ${user.email}` : '';
  const flag = missing.map((scope) => `+${scope}`).join(',');
  return new CommandError(exitCodes.notAllowed, 'insufficient_scope', `Not granted${by}: ${missing.join(', ')}. ${result}`, {
    hint: `Sign in again, and select the permission in the browser, or choose "Use another account" if your account cannot grant it: mandate login --scopes ${flag}`,
  });
}

async function loginWithToken({ io, settings, limits }: LoginContext, { apiUrl, store }: ProfileSession): Promise<void> {
  if (limits) throw new CommandError(exitCodes.usage, 'usage', 'Limits cannot be set for a pasted token; omit --with-token or the limits');
  if (io.stdinIsTTY && !settings.quiet) io.stderr.write('Paste the token and press Enter:\n');
  const token = parsePastedToken((await readLine(io)) ?? '');
  const result = await createApiClient(io, settings, apiUrl, token.accessToken).users.me({ signal: io.interrupted }).safe();
  // A valid token may lack the scope that is required to read the user.
  if (!result.ok && result.error.code !== 'insufficient_scope') throw result.error;
  const user = result.ok ? result.data : undefined;
  const credential = toCredential(settings, apiUrl, token, user, 'file');
  await store.exclusively(() => saveCredentialAndRefreshToken(io, store, settings.profile, credential, undefined));
  printSignIn(io, settings, 'Signed in', credential, `Credentials: ${store.path}.`);
}

function requestedScopes({ scopes: text, force = false }: LoginFlags, granted: readonly string[]): string[] {
  const names = text?.split(/[\s,]+/).filter(Boolean) ?? [];
  const wrong = names.find((name) => !/^\+?[a-z]+(?:[._][a-z]+)*$/.test(name));
  if (wrong !== undefined)
    throw new CommandError(exitCodes.usage, 'usage', `A scope must be a name such as orders.read, not ${JSON.stringify(wrong)}`);
  const added = names.filter((name) => name.startsWith('+')).map((name) => name.slice(1));
  const named = names.filter((name) => !name.startsWith('+'));
  const base = named.length > 0 ? named : granted.length > 0 && (added.length > 0 || force) ? granted : defaultScopes;
  return [...new Set([...alwaysRequestedScopes, ...base, ...added])];
}

/** Checks with the service whether the stored credential is still valid, because it may have been revoked. */
async function isSignedIn({ client, credential }: ProfileSession): Promise<boolean> {
  if (!credential) return false;
  const result = credential.scopes.includes('users.read') ? await client.users.me().safe() : await client.orders.list({ limit: 1 }).safe();
  return result.ok;
}

async function signIn(
  { io, settings, flags, mode, waitMs, limits }: LoginContext,
  { apiUrl }: ProfileSession,
  scopes: string[],
  proofKey: ProofKey | undefined,
): Promise<Tokens> {
  const issuer = settings.config['issuer'] ?? apiUrl;
  const server = await discover(issuer, { allowInsecureRequests: allowsInsecureRequests(io), signal: io.interrupted, proofKey });
  const authorizationDetails = limits && ([{ type: 'mandate_orders', ...limits }] as const);
  const options = { clientId, scopes, waitMs, maxAge: maxSignInAge(flags, scopes), authorizationDetails };
  if (mode === 'device') return signInWithDeviceCode(io, settings, server, options);
  return signInWithBrowser(io, server, options, { opens: mode === 'browser', port: parsePort(flags.port) });
}

function maxSignInAge({ force }: LoginFlags, scopes: readonly string[]): number | undefined {
  if (force) return forcedMaxAge;
  return scopes.includes('api_keys.manage') ? apiKeyMaxAge : undefined;
}

function parsePort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new CommandError(exitCodes.usage, 'usage', `--port must be a number from 0 to 65535, not ${JSON.stringify(text)}`);
  return port;
}

function toCredential(
  { config }: Settings,
  apiUrl: string,
  { accessToken, expiresAt, scopes }: Tokens,
  user: User | undefined,
  storage: RefreshTokenStorage,
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

function printSignIn(io: CliEnvironment, settings: Settings, message: string, credential: Credential | undefined, note = ''): void {
  const scopes = credential?.scopes ?? [];
  if (settings.format !== 'text') {
    io.stdout.write(
      `${serializeJsonForTerminal({ profile: settings.profile, api_url: credential?.apiUrl, user: credential?.user ?? null, scopes })}\n`,
    );
  }
  if (settings.quiet) return;
  const user = credential?.user ? ` as ${credential.user.email}` : '';
  const details = [`profile ${settings.profile}`, ...(scopes.length > 0 ? [`scopes ${apiScopes(scopes).join(' ')}`] : [])];
  io.stderr.write(`${sanitizeForTerminal(`${message}${user} (${details.join(', ')}). ${note}`).trim()}\n`);
}
