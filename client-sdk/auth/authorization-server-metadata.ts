import { AuthorizationError } from '../core/errors.ts';
import { bodyOf, understood, type Body } from './oauth-request.ts';
import type { ProofKeySource } from './dpop-key.ts';
import { checkedBaseUrl } from '../core/request-url.ts';
import type { Fetch } from '../core/transport.ts';

/** Tokens that an authorization server issued, and until when. */
export type Tokens = {
  readonly accessToken: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly refreshToken?: string | undefined;
  readonly scopes: readonly string[];
};

/** As much of RFC 8414 as is made use of. */
type AuthorizationServerMetadata = {
  readonly issuer: string;
  readonly authorization_response_iss_parameter_supported: boolean;
} & { readonly [Endpoint in (typeof endpoints)[number]]?: string };

const endpoints = ['authorization_endpoint', 'token_endpoint', 'revocation_endpoint', 'device_authorization_endpoint'] as const;

/** Where an authorization server says its endpoints are, checked to come from the issuer asked. */
export type AuthorizationServer = {
  readonly issuer: string;
  readonly metadata: AuthorizationServerMetadata;
  readonly fetch: Fetch;
  /** What tokens are bound to. */
  readonly proofKey: ProofKeySource;
};

export type AuthorizationServerOptions = {
  /** Allows `http://` to other machines: then secrets travel readable. */
  readonly allowInsecureRequests?: boolean | undefined;
  /** Has the tokens bound to this key (DPoP, RFC 9449), so that nobody without it can use them. */
  readonly proofKey?: ProofKeySource;
  /** In place of the global one. */
  readonly fetch?: Fetch | undefined;
  readonly signal?: AbortSignal | undefined;
};

const freshForMs = 60_000;

/** Whether a token lasts for a request that begins now. */
export const isFresh = ({ expiresAt }: Tokens): boolean => expiresAt - Date.now() > freshForMs;

/** Asks an authorization server for its endpoints (RFC 8414). */
export async function discover(issuer: string, options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
  const checked = checkedBaseUrl(issuer, options.allowInsecureRequests);
  const { fetch: send = (url, init) => fetch(url, init), proofKey } = options;
  const { origin, pathname } = new URL(checked);
  const url = `${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, '')}`;
  const found = await understood(checked, options.signal, async (signal) => bodyOf(await send(url, { signal, redirect: 'error' })));
  // Endpoints that another server speaks of would be sent the secrets of this one (RFC 8414 section 3.3).
  if (found['issuer'] !== checked) throw new AuthorizationError('invalid_response', `${checked} is not the issuer that ${url} speaks of`);
  return { issuer: checked, metadata: metadataOf(checked, found), fetch: send, proofKey };
}

const metadataOf = (issuer: string, found: Body): AuthorizationServerMetadata => ({
  issuer,
  authorization_response_iss_parameter_supported: found['authorization_response_iss_parameter_supported'] === true,
  ...Object.fromEntries(endpoints.flatMap((name) => (typeof found[name] === 'string' ? [[name, found[name]]] : []))),
});
