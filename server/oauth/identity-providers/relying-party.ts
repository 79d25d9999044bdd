import { createLocalJWKSet, errors as joseErrors, jwtVerify, type JWK, type JWTVerifyGetKey } from 'jose';
import * as oauth from 'oauth4webapi';
import { z } from 'zod';
import { getIdentityProviderPagePath } from '../../identity-providers/save-identity-provider.ts';
import type { IdentityProviderRow } from '../../identity-providers/identity-provider.entity.ts';
import { createSsrfProtectedFetch } from '../../outgoing-http/create-ssrf-protected-fetch.ts';
import { DocumentTooLargeError } from '../../outgoing-http/fetch-third-party-document.ts';
import { AddressNotAllowedError, type NetworkPolicy } from '../../outgoing-http/ssrf-protected-connection.ts';
import { ClientKeyCache } from '../clients/client-key-cache.ts';
import { UnusableDocumentError } from '../../outgoing-http/third-party-json-document.ts';
import { encryptPendingSignIn, type PendingProviderSignIn } from './pending-provider-sign-in.ts';
import { createProviderClientAuthentication } from './provider-client-authentication.ts';
import { identityFromClaims, type ProviderIdentity } from './provider-identity.ts';

/** Thrown if a provider cannot be reached, responds too slowly or sends a response that is too large. */
export class ProviderUnavailableError extends Error {
  override readonly name = 'ProviderUnavailableError';
}

/** Thrown for a response that fails a check. The message contains no secret. */
export class InvalidProviderResponseError extends Error {
  override readonly name = 'InvalidProviderResponseError';
}

/** Thrown if the user or the provider has declined the sign-in. */
export class ProviderSignInDeclinedError extends Error {
  override readonly name = 'ProviderSignInDeclinedError';
}

/** Limits for each request to a provider. A token response is much smaller; some providers publish large key sets. */
const requestLimits = { totalMs: 5_000, bytesMax: 256 * 1024 };
const metadataLifetimeMs = 5 * 60 * 1000;
const metadataEntriesMax = 100;
/** Accepted difference between the clocks of the provider and of this server. */
const clockToleranceSeconds = 60;

const logoutTokenAlgorithms = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'] as const;
const keysSchema = z.array(z.custom<JWK>());
const logoutTokenAgeMaxSeconds = 5 * 60;
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
const logoutClaimsSchema = z.object({
  jti: z.string().min(1).max(255),
  sub: z.string().min(1).max(255),
  events: z.object({ [logoutEvent]: z.object({}).passthrough() }).passthrough(),
  // a token with a nonce is an ID token
  nonce: z.undefined(),
});

type Options = {
  readonly network: NetworkPolicy;
  /** Encrypts pending sign-ins, and the credentials for the providers. */
  readonly key: Buffer;
  /** Public URL of the server. */
  readonly issuer: string;
};

type CachedMetadata = { readonly metadata: oauth.AuthorizationServer; readonly untilMs: number };

/** The OpenID Connect client of this server at the configured providers. */
export class RelyingParty {
  readonly #network: NetworkPolicy;
  readonly #key: Buffer;
  readonly #issuer: string;
  readonly #httpOptions: { [oauth.customFetch]: never; [oauth.allowInsecureRequests]: boolean };
  readonly #metadata = new Map<string, CachedMetadata>();
  readonly #logoutKeys: ClientKeyCache;

  constructor({ network, key, issuer }: Options) {
    this.#network = network;
    this.#key = key;
    this.#issuer = issuer;
    this.#logoutKeys = new ClientKeyCache(network);
    const protectedFetch = createSsrfProtectedFetch(network, requestLimits);
    this.#httpOptions = {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each function of the library declares its own type for this option
      [oauth.customFetch]: protectedFetch as never,
      [oauth.allowInsecureRequests]: network.development,
    };
  }

  redirectUri = ({ slug }: Pick<IdentityProviderRow, 'slug'>): string => `${this.#issuer}${getIdentityProviderPagePath(slug)}/callback`;

  /**
   * Returns a provider's metadata, which is cached for five minutes.
   * @throws {ProviderUnavailableError}
   * @throws {InvalidProviderResponseError} if the metadata belongs to another issuer
   */
  async discover({ issuer }: Pick<IdentityProviderRow, 'issuer'>): Promise<oauth.AuthorizationServer> {
    const cached = this.#metadata.get(issuer);
    if (cached && cached.untilMs > Date.now()) return cached.metadata;
    const metadata = await convertErrors(async () => {
      const url = new URL(issuer);
      return oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, this.#httpOptions));
    });
    if (this.#metadata.size >= metadataEntriesMax) this.#metadata.clear();
    this.#metadata.set(issuer, { metadata, untilMs: Date.now() + metadataLifetimeMs });
    return metadata;
  }

  /**
   * Returns the URL to which the browser is sent. Parameters are pushed to the provider (RFC 9126) if it supports this.
   * @param isFreshSignInRequired whether the provider must authenticate the user again
   * @throws {ProviderUnavailableError}
   * @throws {InvalidProviderResponseError}
   */
  async createAuthorizationUrl(
    provider: IdentityProviderRow,
    pending: PendingProviderSignIn,
    { isFreshSignInRequired, languages }: { readonly isFreshSignInRequired: boolean; readonly languages: string },
  ): Promise<string> {
    const server = await this.discover(provider);
    const parameters = new URLSearchParams({
      client_id: provider.clientId,
      response_type: 'code',
      redirect_uri: this.redirectUri(provider),
      scope: provider.scopes.join(' '),
      state: encryptPendingSignIn(pending, this.#key),
      nonce: pending.nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(pending.codeVerifier),
      code_challenge_method: 'S256',
      ui_locales: languages,
      // Apple requires this response mode if the name or the e-mail address is requested
      ...(provider.preset === 'apple' && provider.scopes.length > 1 && { response_mode: 'form_post' }),
      ...(isFreshSignInRequired && { max_age: '0' }),
    });
    return convertErrors(async () => {
      const url = endpointUrl(server.authorization_endpoint, this.#network.development);
      if (server.pushed_authorization_request_endpoint === undefined) {
        for (const [name, value] of parameters) url.searchParams.set(name, value);
        return url.href;
      }
      const client = clientOf(provider);
      const authentication = await createProviderClientAuthentication(provider, this.#key, new Date());
      const response = await oauth.pushedAuthorizationRequest(server, client, authentication, parameters, this.#httpOptions);
      const { request_uri: requestUri } = await oauth.processPushedAuthorizationResponse(server, client, response);
      url.searchParams.set('client_id', provider.clientId);
      url.searchParams.set('request_uri', requestUri);
      return url.href;
    });
  }

  /**
   * Verifies the parameters of an authorization response, redeems its code, and verifies the ID token with the keys that the provider
   * publishes at this time.
   * @throws {ProviderSignInDeclinedError}
   * @throws {ProviderUnavailableError}
   * @throws {InvalidProviderResponseError}
   */
  async redeemResponse(
    provider: IdentityProviderRow,
    pending: PendingProviderSignIn,
    parameters: URLSearchParams,
  ): Promise<ProviderIdentity> {
    // The library caches keys per metadata object, so a copy makes it fetch the current keys.
    const server = { ...(await this.discover(provider)) };
    const client = clientOf(provider);
    return convertErrors(async () => {
      const validated = oauth.validateAuthResponse(server, client, parameters, parameters.get('state') ?? '');
      const authentication = await createProviderClientAuthentication(provider, this.#key, new Date());
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        authentication,
        validated,
        this.redirectUri(provider),
        pending.codeVerifier,
        this.#httpOptions,
      );
      const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
        expectedNonce: pending.nonce,
        requireIdToken: true,
      });
      await oauth.validateApplicationLevelSignature(server, response, this.#httpOptions);
      const claims = oauth.getValidatedIdTokenClaims(tokens);
      if (!claims) throw new InvalidProviderResponseError('the response contains no ID token');
      const moreClaims = claims['email'] === undefined ? await this.#readUserInfo(server, client, tokens.access_token, claims.sub) : {};
      return identityFromClaims({ ...moreClaims, ...claims }, provider, nameFromAppleUser(parameters.get('user')));
    });
  }

  /**
   * Verifies a logout token (OpenID Connect Back-Channel Logout section 2.6). Tokens without `sub` are not supported.
   * @returns the account whose sessions end, and the ID of the token
   * @throws {ProviderUnavailableError}
   * @throws {InvalidProviderResponseError}
   */
  async verifyLogoutToken(
    provider: IdentityProviderRow,
    token: string,
  ): Promise<{ readonly id: string; readonly issuer: string; readonly subject: string }> {
    const { issuer, jwks_uri: jwksUri } = await this.discover(provider);
    if (jwksUri === undefined) throw new InvalidProviderResponseError('the provider publishes no keys');
    try {
      const lookUpKeys = async (kid: string | undefined) =>
        createLocalJWKSet({
          keys: keysSchema.parse(await this.#logoutKeys.load({ clientId: `identity provider ${provider.slug}`, jwksUri, kid })),
        });
      const options = {
        issuer,
        audience: provider.clientId,
        algorithms: [...logoutTokenAlgorithms],
        clockTolerance: clockToleranceSeconds,
        maxTokenAge: logoutTokenAgeMaxSeconds,
      };
      const selectKey: JWTVerifyGetKey = async (header, jws) => (await lookUpKeys(header.kid))(header, jws);
      const { payload } = await jwtVerify(token, selectKey, options);
      const { jti, sub } = logoutClaimsSchema.parse(payload);
      return { id: jti, issuer, subject: sub };
    } catch (error) {
      if (error instanceof UnusableDocumentError) throw new ProviderUnavailableError(error.message);
      if (error instanceof joseErrors.JOSEError || error instanceof z.ZodError)
        throw new InvalidProviderResponseError('the logout token is not valid');
      throw error;
    }
  }

  /** Reads the claims that the ID token does not contain. */
  async #readUserInfo(
    server: oauth.AuthorizationServer,
    client: oauth.Client,
    accessToken: string,
    subject: string,
  ): Promise<Record<string, unknown>> {
    if (server.userinfo_endpoint === undefined) return {};
    const response = await oauth.userInfoRequest(server, client, accessToken, this.#httpOptions);
    const { email, email_verified, name } = await oauth.processUserInfoResponse(server, client, subject, response);
    return { email, email_verified, name };
  }
}

const clientOf = ({ clientId }: IdentityProviderRow): oauth.Client => ({
  client_id: clientId,
  [oauth.clockTolerance]: clockToleranceSeconds,
});

function endpointUrl(endpoint: string | undefined, isHttpAllowed: boolean): URL {
  const url = endpoint !== undefined && URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url?.protocol === 'https:' || (isHttpAllowed && url?.protocol === 'http:')) return url;
  throw new InvalidProviderResponseError('the provider publishes no usable authorization endpoint');
}

const appleUserSchema = z.object({ name: z.object({ firstName: z.string().catch(''), lastName: z.string().catch('') }) });

/** Returns the name that Apple sends with the first sign-in of a user, outside of the ID token. */
function nameFromAppleUser(text: string | null): string | undefined {
  if (text === null) return undefined;
  try {
    const { data } = appleUserSchema.safeParse(JSON.parse(text));
    return data && `${data.name.firstName} ${data.name.lastName}`.trim();
  } catch {
    return undefined;
  }
}

/** Errors of the provider's own making, which mean that it cannot be used at present. */
const serverErrorStatus = 500;

/** Converts the errors of the library and of the connection. Their causes can contain tokens, so they are not kept. */
async function convertErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof InvalidProviderResponseError) throw error;
    if (error instanceof oauth.AuthorizationResponseError) throw new ProviderSignInDeclinedError(error.error.slice(0, 100));
    if (error instanceof oauth.ResponseBodyError && error.status < serverErrorStatus)
      throw new InvalidProviderResponseError(`the provider responded with ${error.error.slice(0, 100)}`);
    if (error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError)
      throw isServerError(error) ? new ProviderUnavailableError(error.message) : new InvalidProviderResponseError(error.message);
    if (error instanceof DocumentTooLargeError || error instanceof AddressNotAllowedError)
      throw new ProviderUnavailableError(error.message);
    if (error instanceof z.ZodError) throw new InvalidProviderResponseError('the ID token lacks a required claim');
    throw new ProviderUnavailableError(error instanceof Error ? error.message : 'the provider cannot be reached');
  }
}

const isServerError = ({ cause }: Error): boolean => cause instanceof Response && cause.status >= serverErrorStatus;
