import { checkedBaseUrl, createClient, deprecationText, type Client, type Fetch, type TokenSource } from '@mandate/client-sdk';
import { refreshingTokens, type TokenStore } from '@mandate/client-sdk/authorization';
import { CommandFailure } from '../errors/command-error.ts';
import { credentialStore, type Credential, type CredentialStore } from './credential-store.ts';
import { exitCodes } from '../errors/exit-codes.ts';
import type { Io } from '../environment.ts';
import { tellRetries } from '../output/print-retries.ts';
import { plainText } from '../terminal/safe-terminal-text.ts';
import { proofKeyOf } from './dpop-keys.ts';
import { quickFetch } from '../http/node-http-fetch.ts';
import { keep, keptRefreshToken } from './refresh-token-storage.ts';
import type { Settings } from '../settings/settings.ts';

const defaultApiUrl = 'http://localhost:3000';
const retryDelayMaxMs = 30_000;

/** Whom the command acts for, and where. */
export type Session = {
  readonly apiUrl: string;
  readonly store: CredentialStore;
  /** What the profile has kept, when it is for this API. */
  readonly credential: Credential | undefined;
  readonly client: Client;
  /** Whether there is anything to show to the API. */
  readonly signedIn: boolean;
};

export async function openSession(io: Io, settings: Settings): Promise<Session> {
  const store = credentialStore(settings.directory);
  const kept = settings.token === undefined || settings.apiUrl === undefined ? await store.read(settings.profile) : undefined;
  const apiUrl = checkedApiUrl(io, settings.apiUrl ?? kept?.apiUrl ?? defaultApiUrl);
  // Tokens go to the origin that they are for, and nowhere else.
  const credential = kept?.apiUrl === apiUrl && settings.token === undefined ? kept : undefined;
  const auth = settings.token ?? (credential && tokenSource(io, store, settings.profile, credential));
  return { apiUrl, store, credential, client: clientAt(io, settings, apiUrl, auth), signedIn: auth !== undefined };
}

export function requireSignIn({ signedIn }: Pick<Session, 'signedIn'>): void {
  if (signedIn) return;
  throw new CommandFailure(exitCodes.signInNeeded, 'sign_in_required', 'You are not signed in', { hint: 'Sign in with: mandate login' });
}

/** What takes several requests is not begun when the last of them would be refused. */
export function requireScopes(session: Session, scopes: readonly string[]): void {
  requireSignIn(session);
  const missing = session.credential ? scopes.filter((scope) => !session.credential?.scopes.includes(scope)) : [];
  if (missing.length === 0) return;
  throw new CommandFailure(exitCodes.notAllowed, 'insufficient_scope', `This needs more than you granted: ${missing.join(', ')}`, {
    hint: `Ask for it with: mandate login --scopes ${missing.map((scope) => `+${scope}`).join(',')}`,
  });
}

export function clientAt(io: Io, settings: Settings, apiUrl: string, auth: TokenSource | string | undefined): Client {
  return createClient({
    baseUrl: apiUrl,
    auth,
    timeoutMs: settings.timeoutMs,
    maxRetryDelayMs: retryDelayMaxMs,
    headers: { 'user-agent': 'mandate-cli' },
    fetch: settings.debug ? tracing(io) : quickFetch,
    allowInsecureRequests: insecureAllowed(io),
    onDeprecation: (notice) => {
      if (!settings.quiet) io.stderr.write(`Note: ${plainText(deprecationText(notice))}\n`);
    },
  }).use(tellRetries(io, settings));
}

/** Whether plain http to other machines was asked for. */
export const insecureAllowed = ({ env }: Io): boolean => env['MANDATE_ALLOW_INSECURE'] === '1';

export function checkedApiUrl(io: Io, url: string): string {
  try {
    return checkedBaseUrl(url, insecureAllowed(io));
  } catch (cause) {
    const insecure = URL.canParse(url) && new URL(url).protocol === 'http:';
    throw new CommandFailure(
      exitCodes.usage,
      'usage',
      insecure ? `${url} would carry tokens readable: use https` : `${url} is not the address of a service`,
      {
        cause,
        ...(insecure && { hint: 'For a network that nobody else can read: MANDATE_ALLOW_INSECURE=1' }),
      },
    );
  }
}

export function tokenSource(io: Io, store: CredentialStore, profile: string, credential: Credential): TokenSource {
  const { apiUrl, issuer = apiUrl, clientId } = credential;
  // The refresh token is fetched by whoever is going to use it, which only happens within the lock.
  let renewing = false;
  const tokens: TokenStore = {
    read: async () => {
      const now = await store.read(profile);
      if (!now || !renewing) return now;
      return { ...now, refreshToken: await keptRefreshToken(io, store, profile, now) };
    },
    write: async (next) => {
      const before = await store.read(profile);
      // Signed out meanwhile: nothing comes back.
      if (!before) return;
      const { refreshToken: _, ...rest } = before;
      const { refreshToken, accessToken, expiresAt, scopes } = next;
      await keep(io, store, profile, { ...rest, accessToken, expiresAt, scopes }, refreshToken);
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
  const proofKey = proofKeyOf(store, profile, credential);
  return refreshingTokens({ issuer, clientId, store: tokens, proofKey, allowInsecureRequests: insecureAllowed(io) });
}

/** Says on stderr what is asked and how it ends; headers and bodies, where the secrets are, stay out. */
const tracing =
  ({ stderr }: Io): Fetch =>
  async (url, init) => {
    const begun = performance.now();
    const took = (): string => `${Math.round(performance.now() - begun)} ms`;
    stderr.write(`> ${init.method ?? 'GET'} ${plainText(url)}\n`);
    try {
      const response = await quickFetch(url, init);
      stderr.write(`< ${response.status} in ${took()}, request ${plainText(response.headers.get('x-request-id') ?? 'without an id')}\n`);
      return response;
    } catch (error) {
      stderr.write(`< no answer after ${took()}\n`);
      throw error;
    }
  };
