import { AuthorizationError } from '../core/authorization-errors.ts';
import { parseOAuthResponseOrThrow, runWithOAuthTimeoutAndErrorConversion, type JsonBody } from './oauth-response-timeout-and-errors.ts';
import type { ProofKeySource } from './dpop-key.ts';
import { checkedBaseUrl } from '../core/request-url.ts';
import type { Fetch } from '../core/token-source.ts';

/** Tokens issued by an authorization server. */
export type Tokens = {
  readonly accessToken: string;
  /** Expiration time of the access token, in milliseconds since the Unix epoch. */
  readonly expiresAt: number;
  readonly refreshToken?: string | undefined;
  readonly scopes: readonly string[];
};

/** The metadata fields (RFC 8414) that the client uses. */
type AuthorizationServerMetadata = {
  readonly issuer: string;
  readonly authorization_response_iss_parameter_supported: boolean;
} & { readonly [Endpoint in (typeof endpoints)[number]]?: string };

const endpoints = ['authorization_endpoint', 'token_endpoint', 'revocation_endpoint', 'device_authorization_endpoint'] as const;

/** An authorization server and its metadata. The issuer has been verified. */
export type AuthorizationServer = {
  readonly issuer: string;
  readonly metadata: AuthorizationServerMetadata;
  readonly fetch: Fetch;
  /** Key to which tokens are bound (DPoP). */
  readonly proofKey: ProofKeySource;
};

export type AuthorizationServerOptions = {
  /** Allows `http://` URLs for hosts other than this machine. Secrets are then sent to these hosts unencrypted. */
  readonly allowInsecureRequests?: boolean | undefined;
  /** Key to which tokens are bound (DPoP, RFC 9449). The tokens cannot be used without this key. */
  readonly proofKey?: ProofKeySource;
  /** Replacement for the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** Function that adds an application's authentication to the body or headers of a request, such as the result of `privateKeyJwt(...)`. */
export type ClientAuthentication = (
  server: { readonly issuer: string },
  client: { readonly client_id: string },
  body: URLSearchParams,
  headers: Headers,
) => void | Promise<void>;

/** How an application authenticates. A public application has neither a secret nor a key, and relies on PKCE alone. */
export type ClientAuthenticationOptions = {
  readonly clientSecret?: string | undefined;
  /** Authentication without a secret, such as `privateKeyJwt(...)` from `@mandate/client-sdk/private-key-jwt`. */
  readonly clientAuthentication?: ClientAuthentication | undefined;
};

/** Identifies the application to the authorization server. */
export type OAuthClient = ClientAuthenticationOptions & { readonly clientId: string };

const minimumLifetimeMs = 60_000;

/** Returns whether the access token remains valid long enough for a request that starts now. */
export const isAccessTokenFresh = ({ expiresAt }: Tokens): boolean => expiresAt - Date.now() > minimumLifetimeMs;

/** Fetches the metadata of an authorization server (RFC 8414). */
export async function discover(issuer: string, options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
  const checked = checkedBaseUrl(issuer, options.allowInsecureRequests);
  const { fetch: send = (url, init) => fetch(url, init), proofKey } = options;
  const { origin, pathname } = new URL(checked);
  const url = `${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, '')}`;
  const document = await runWithOAuthTimeoutAndErrorConversion(checked, options.signal, async (signal) =>
    parseOAuthResponseOrThrow(await send(url, { signal, redirect: 'manual' })),
  );
  // Prevents the client from sending secrets to endpoints from another server's metadata (RFC 8414 section 3.3).
  if (document['issuer'] !== checked)
    throw new AuthorizationError('invalid_response', `The metadata at ${url} contains an issuer other than ${checked}`);
  return { issuer: checked, metadata: metadataOf(checked, document), fetch: send, proofKey };
}

const metadataOf = (issuer: string, document: JsonBody): AuthorizationServerMetadata => ({
  issuer,
  authorization_response_iss_parameter_supported: document['authorization_response_iss_parameter_supported'] === true,
  ...Object.fromEntries(endpoints.flatMap((name) => (typeof document[name] === 'string' ? [[name, document[name]]] : []))),
});
