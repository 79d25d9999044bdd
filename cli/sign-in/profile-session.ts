import { checkedBaseUrl, createClient, formatDeprecationText, type Client, type Fetch, type TokenSource } from '@mandate/client-sdk';
import { refreshingTokens, type TokenStore } from '@mandate/client-sdk/authorization';
import { CommandError } from '../errors/command-error.ts';
import { createCredentialStore, type Credential, type CredentialStore } from './credential-store.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { CliEnvironment } from '../environment/cli-environment-type.ts';
import { createRetryNoticeMiddleware } from '../output/retry-notice-middleware.ts';
import { sanitizeForTerminal } from '../terminal/sanitize-and-measure-terminal-text.ts';
import { createDpopKeyLoader } from './dpop-keys.ts';
import { lightweightFetch } from '../http/lightweight-fetch.ts';
import { saveCredentialAndRefreshToken, loadRefreshToken } from './credential-and-refresh-token-storage.ts';
import type { Settings } from '../settings/resolve-settings.ts';

const defaultApiUrl = 'http://localhost:3000';
const retryDelayMaxMs = 30_000;

/** The service that a command calls, and the credential that it uses. */
export type ProfileSession = {
  readonly apiUrl: string;
  readonly store: CredentialStore;
  /** The stored credential of the profile, if it belongs to this API. */
  readonly credential: Credential | undefined;
  readonly client: Client;
  /** Whether requests contain a token. */
  readonly signedIn: boolean;
};

/** Loads the profile's credential and creates an API client. Sends no request. */
export async function openProfileSession(io: CliEnvironment, settings: Settings): Promise<ProfileSession> {
  const store = createCredentialStore(settings.directory);
  const stored = settings.token === undefined || settings.apiUrl === undefined ? await store.read(settings.profile) : undefined;
  const apiUrl = normalizeAndCheckApiUrl(io, settings.apiUrl ?? stored?.apiUrl ?? defaultApiUrl);
  // Tokens are sent only to the origin that issued them.
  const credential = stored?.apiUrl === apiUrl && settings.token === undefined ? stored : undefined;
  const auth = settings.token ?? (credential && createProfileTokenSource(io, store, settings.profile, credential));
  return { apiUrl, store, credential, client: createApiClient(io, settings, apiUrl, auth), signedIn: auth !== undefined };
}

/** Throws if there is no token. */
export function assertSignedIn({ signedIn }: Pick<ProfileSession, 'signedIn'>): void {
  if (signedIn) return;
  throw new CommandError(exitCodes.signInRequired, 'sign_in_required', 'You are not signed in', { hint: 'Sign in with: mandate login' });
}

/** Throws if a scope is missing, so that a command with several requests fails before the first request, not during the last one. */
export function assertSignedInWithScopes(session: ProfileSession, scopes: readonly string[]): void {
  assertSignedIn(session);
  const missing = session.credential ? scopes.filter((scope) => !session.credential?.scopes.includes(scope)) : [];
  if (missing.length === 0) return;
  throw new CommandError(exitCodes.notAllowed, 'insufficient_scope', `Missing scopes: ${missing.join(', ')}`, {
    hint: `Request them with: mandate login --scopes ${missing.map((scope) => `+${scope}`).join(',')}`,
  });
}

/** Creates an API client for a service. */
export function createApiClient(io: CliEnvironment, settings: Settings, apiUrl: string, auth: TokenSource | string | undefined): Client {
  return createClient({
    baseUrl: apiUrl,
    auth,
    timeoutMs: settings.timeoutMs,
    maxRetryDelayMs: retryDelayMaxMs,
    headers: { 'user-agent': 'mandate-cli' },
    fetch: settings.debug ? loggingFetch(io) : lightweightFetch,
    allowInsecureRequests: allowsInsecureRequests(io),
    onDeprecation: (notice) => {
      if (!settings.quiet) io.stderr.write(`Note: ${sanitizeForTerminal(formatDeprecationText(notice))}\n`);
    },
  }).use(createRetryNoticeMiddleware(io, settings));
}

/** Returns whether MANDATE_ALLOW_INSECURE allows plain HTTP requests to other machines. */
export const allowsInsecureRequests = ({ env }: CliEnvironment): boolean => env['MANDATE_ALLOW_INSECURE'] === '1';

/** Returns a service's normalized URL. Throws if the URL is invalid or insecure. */
export function normalizeAndCheckApiUrl(io: CliEnvironment, url: string): string {
  try {
    return checkedBaseUrl(url, allowsInsecureRequests(io));
  } catch (cause) {
    const insecure = URL.canParse(url) && new URL(url).protocol === 'http:';
    throw new CommandError(
      exitCodes.usage,
      'usage',
      insecure ? `Requests to ${url} would send tokens unencrypted; use https` : `${url} is not a valid service URL`,
      {
        cause,
        ...(insecure && { hint: 'On a trusted network, set MANDATE_ALLOW_INSECURE=1' }),
      },
    );
  }
}

/** Creates a profile's token source, which renews the access token and saves the new tokens. */
export function createProfileTokenSource(io: CliEnvironment, store: CredentialStore, profile: string, credential: Credential): TokenSource {
  const { apiUrl, issuer = apiUrl, clientId } = credential;
  // Reading the keyring is slow, so the refresh token is loaded only for a renewal, which always holds the lock.
  let renewing = false;
  const tokens: TokenStore = {
    read: async () => {
      const current = await store.read(profile);
      if (!current || !renewing) return current;
      return { ...current, refreshToken: await loadRefreshToken(io, store, profile, current) };
    },
    write: async (next) => {
      const before = await store.read(profile);
      // The user has signed out in the meantime, so nothing is saved.
      if (!before) return;
      const { refreshToken: _, ...rest } = before;
      const { refreshToken, accessToken, expiresAt, scopes } = next;
      await saveCredentialAndRefreshToken(io, store, profile, { ...rest, accessToken, expiresAt, scopes }, refreshToken);
    },
    exclusively: (work) =>
      store.exclusively(async () => {
        renewing = true;
        try {
          return await work();
        } finally {
          renewing = false;
        }
      }),
  };
  const proofKey = createDpopKeyLoader(store, profile, credential);
  return refreshingTokens({ issuer, clientId, store: tokens, proofKey, allowInsecureRequests: allowsInsecureRequests(io) });
}

/** Logs each request and its outcome to standard error, without headers and bodies, which contain secrets. */
const loggingFetch =
  ({ stderr }: CliEnvironment): Fetch =>
  async (url, init) => {
    const begun = performance.now();
    const duration = (): string => `${Math.round(performance.now() - begun)} ms`;
    stderr.write(`> ${init.method ?? 'GET'} ${sanitizeForTerminal(url)}\n`);
    try {
      const response = await lightweightFetch(url, init);
      stderr.write(
        `< ${response.status} in ${duration()}, request ${sanitizeForTerminal(response.headers.get('x-request-id') ?? 'without an id')}\n`,
      );
      return response;
    } catch (error) {
      stderr.write(`< no response after ${duration()}\n`);
      throw error;
    }
  };
