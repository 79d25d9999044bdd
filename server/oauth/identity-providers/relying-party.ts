import * as oauth from 'oauth4webapi';
import { z } from 'zod';
import { getProviderScopeParameters } from '../../identity-providers/provider-scopes-and-account-check-interval.ts';
import { getIdentityProviderEndpointsBasePath } from '../../identity-providers/save-identity-provider.ts';
import type { IdentityProviderRow } from '../../identity-providers/identity-provider.entity.ts';
import { createSsrfProtectedFetch } from '../../outgoing-http/create-ssrf-protected-fetch.ts';
import type { NetworkPolicy } from '../../outgoing-http/ssrf-protected-connection.ts';
import { clockToleranceSeconds, LogoutTokenVerifier, type VerifiedLogoutToken } from './logout-token-verifier.ts';
import { encryptPendingSignIn, type PendingProviderSignIn } from './pending-provider-sign-in.ts';
import { createProviderClientAuthentication } from './provider-client-authentication.ts';
import { ProviderDpop, retryWithDpopNonce } from './provider-dpop.ts';
import {
  runAndConvertProviderErrors,
  InvalidProviderResponseError,
  isErrorResponseOfProvider,
  truncateErrorCode,
} from './provider-errors.ts';
import { providerIdentityFromClaims, type ProviderIdentity } from './provider-identity-and-access-rules.ts';

/**
 * Limits for each request to a provider. Token responses are much smaller than the size limit, but some providers publish large key sets.
 */
const requestLimits = { totalMs: 5_000, bytesMax: 256 * 1024 };
const metadataLifetimeMs = 5 * 60 * 1000;
const metadataEntriesMax = 100;

/** A provider's response to a refresh token. */
export type ProviderRefreshResult =
  /** The account exists. `refreshToken` is the token for the next check. */
  | { readonly outcome: 'accepted'; readonly refreshToken: string }
  /** The provider has revoked the token (`invalid_grant`). */
  | { readonly outcome: 'refused' }
  /** The provider rejected the request for another reason, such as a wrong client secret. */
  | { readonly outcome: 'failed'; readonly reason: string };

type Options = {
  readonly network: NetworkPolicy;
  /** Key that encrypts pending sign-ins and the credentials for the providers; the DPoP key is derived from this key. */
  readonly key: Buffer;
  /** Public URL of the server. */
  readonly issuer: string;
};

type CachedMetadata = { readonly metadata: oauth.AuthorizationServer; readonly untilMs: number };

/** This server's OpenID Connect client for the configured providers. */
export class RelyingParty {
  readonly #network: NetworkPolicy;
  readonly #key: Buffer;
  readonly #issuer: string;
  readonly #httpOptions: { [oauth.customFetch]: never; [oauth.allowInsecureRequests]: boolean };
  readonly #metadata = new Map<string, CachedMetadata>();
  readonly #logoutTokens: LogoutTokenVerifier;
  readonly #dpop: ProviderDpop;

  constructor({ network, key, issuer }: Options) {
    this.#network = network;
    this.#key = key;
    this.#issuer = issuer;
    this.#logoutTokens = new LogoutTokenVerifier(network);
    this.#dpop = new ProviderDpop(key);
    const protectedFetch = createSsrfProtectedFetch(network, requestLimits);
    this.#httpOptions = {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each function of the library declares its own type for this option
      [oauth.customFetch]: protectedFetch as never,
      [oauth.allowInsecureRequests]: network.development,
    };
  }

  redirectUri = ({ slug }: Pick<IdentityProviderRow, 'slug'>): string =>
    `${this.#issuer}${getIdentityProviderEndpointsBasePath(slug)}/callback`;

  /**
   * Returns a provider's metadata, which is cached for five minutes.
   * @throws {IdentityProviderUnavailableError}
   * @throws {InvalidProviderResponseError} if the metadata belongs to a different issuer
   */
  async discover({ issuer }: Pick<IdentityProviderRow, 'issuer'>): Promise<oauth.AuthorizationServer> {
    const cached = this.#metadata.get(issuer);
    if (cached && cached.untilMs > Date.now()) return cached.metadata;
    const metadata = await runAndConvertProviderErrors(async () => {
      const url = new URL(issuer);
      return oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, this.#httpOptions));
    });
    if (this.#metadata.size >= metadataEntriesMax) this.#metadata.clear();
    this.#metadata.set(issuer, { metadata, untilMs: Date.now() + metadataLifetimeMs });
    return metadata;
  }

  /**
   * Returns the authorization URL for the browser. The parameters are pushed (RFC 9126) if the provider supports pushed authorization
   * requests.
   * @param isFreshSignInRequired whether the provider must authenticate the user again
   * @throws {IdentityProviderUnavailableError}
   * @throws {InvalidProviderResponseError}
   */
  async createAuthorizationUrl(
    provider: IdentityProviderRow,
    pending: PendingProviderSignIn,
    { isFreshSignInRequired, languages }: { readonly isFreshSignInRequired: boolean; readonly languages: string },
  ): Promise<string> {
    const server = await this.discover(provider);
    const dpop = await this.#dpop.optionFor(server);
    const scopeParameters = getProviderScopeParameters(provider, pending.linkForUserId !== null);
    const parameters = new URLSearchParams({
      client_id: provider.clientId,
      response_type: 'code',
      redirect_uri: this.redirectUri(provider),
      ...scopeParameters,
      state: encryptPendingSignIn(pending, this.#key),
      nonce: pending.nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(pending.codeVerifier),
      code_challenge_method: 'S256',
      ui_locales: languages,
      // Apple requires this response mode if the name or the e-mail address is requested.
      ...(provider.preset === 'apple' && scopeParameters.scope.includes(' ') && { response_mode: 'form_post' }),
      ...(isFreshSignInRequired && { max_age: '0' }),
      // The code can be redeemed only with this key (RFC 9449 section 10).
      ...(dpop.DPoP && { dpop_jkt: await dpop.DPoP.calculateThumbprint() }),
    });
    return runAndConvertProviderErrors(async () => {
      const url = endpointUrl(server.authorization_endpoint, this.#network.development);
      if (server.pushed_authorization_request_endpoint === undefined) {
        for (const [name, value] of parameters) url.searchParams.set(name, value);
        return url.href;
      }
      const client = clientOf(provider);
      const authentication = await createProviderClientAuthentication(provider, this.#key, new Date());
      const options = { ...this.#httpOptions, ...dpop };
      const { request_uri: requestUri } = await retryWithDpopNonce(async () => {
        const response = await oauth.pushedAuthorizationRequest(server, client, authentication, parameters, options);
        return oauth.processPushedAuthorizationResponse(server, client, response);
      });
      url.searchParams.set('client_id', provider.clientId);
      url.searchParams.set('request_uri', requestUri);
      return url.href;
    });
  }

  /**
   * Verifies the parameters of an authorization response, redeems its code, and verifies the ID token with the keys that the provider
   * currently publishes.
   * @throws {ProviderSignInDeclinedError}
   * @throws {IdentityProviderUnavailableError}
   * @throws {InvalidProviderResponseError}
   */
  async redeemResponse(
    provider: IdentityProviderRow,
    pending: PendingProviderSignIn,
    parameters: URLSearchParams,
  ): Promise<ProviderIdentity> {
    // The library caches keys per metadata object, so passing a copy makes the library fetch the current keys.
    const server = { ...(await this.discover(provider)) };
    const client = clientOf(provider);
    return runAndConvertProviderErrors(async () => {
      const validated = oauth.validateAuthResponse(server, client, parameters, parameters.get('state') ?? '');
      const authentication = await createProviderClientAuthentication(provider, this.#key, new Date());
      const dpop = await this.#dpop.optionFor(server);
      const options = { ...this.#httpOptions, ...dpop };
      const [redirectUri, verifier] = [this.redirectUri(provider), pending.codeVerifier];
      const { response, tokens } = await retryWithDpopNonce(async () => {
        const received = await oauth.authorizationCodeGrantRequest(
          server,
          client,
          authentication,
          validated,
          redirectUri,
          verifier,
          options,
        );
        const checks = { expectedNonce: pending.nonce, requireIdToken: true };
        return { response: received, tokens: await oauth.processAuthorizationCodeResponse(server, client, received, checks) };
      });
      await oauth.validateApplicationLevelSignature(server, response, this.#httpOptions);
      const claims = oauth.getValidatedIdTokenClaims(tokens);
      if (!claims) throw new InvalidProviderResponseError('the response contains no ID token');
      const moreClaims = claims['email'] === undefined ? await this.#readUserInfo(server, client, tokens, claims.sub) : {};
      const identity = providerIdentityFromClaims({ ...moreClaims, ...claims }, provider, nameFromAppleUser(parameters.get('user')));
      return { ...identity, refreshToken: tokens.refresh_token };
    });
  }

  /**
   * Redeems a refresh token, to check whether an account at a provider still exists.
   * @param subject the account to which the token belongs
   * @throws {IdentityProviderUnavailableError}
   * @throws {InvalidProviderResponseError}
   */
  async redeemRefreshToken(provider: IdentityProviderRow, refreshToken: string, subject: string): Promise<ProviderRefreshResult> {
    const server = await this.discover(provider);
    const client = clientOf(provider);
    return runAndConvertProviderErrors(async () => {
      const authentication = await createProviderClientAuthentication(provider, this.#key, new Date());
      const options = { ...this.#httpOptions, ...(await this.#dpop.optionFor(server)) };
      try {
        const tokens = await retryWithDpopNonce(async () => {
          const response = await oauth.refreshTokenGrantRequest(server, client, authentication, refreshToken, options);
          return oauth.processRefreshTokenResponse(server, client, response);
        });
        const claims = oauth.getValidatedIdTokenClaims(tokens);
        if (claims && claims.sub !== subject) throw new InvalidProviderResponseError('the ID token belongs to another account');
        return { outcome: 'accepted', refreshToken: tokens.refresh_token ?? refreshToken };
      } catch (error) {
        if (!isErrorResponseOfProvider(error)) throw error;
        return error.error === 'invalid_grant' ? { outcome: 'refused' } : { outcome: 'failed', reason: truncateErrorCode(error.error) };
      }
    });
  }

  /**
   * Verifies a provider's logout token; see `LogoutTokenVerifier`.
   * @throws {IdentityProviderUnavailableError}
   * @throws {InvalidProviderResponseError}
   */
  async verifyLogoutToken(provider: IdentityProviderRow, token: string): Promise<VerifiedLogoutToken> {
    return this.#logoutTokens.verify(provider, await this.discover(provider), token);
  }

  /** Reads user claims from the UserInfo endpoint, for example if the ID token contains no e-mail address. */
  async #readUserInfo(
    server: oauth.AuthorizationServer,
    client: oauth.Client,
    { access_token: accessToken, token_type: tokenType }: Pick<oauth.TokenEndpointResponse, 'access_token' | 'token_type'>,
    subject: string,
  ): Promise<Record<string, unknown>> {
    if (server.userinfo_endpoint === undefined) return {};
    const options = { ...this.#httpOptions, ...(tokenType === 'dpop' && (await this.#dpop.optionFor(server))) };
    const { email, email_verified, name } = await retryWithDpopNonce(async () => {
      const response = await oauth.userInfoRequest(server, client, accessToken, options);
      return oauth.processUserInfoResponse(server, client, subject, response);
    });
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

/** Returns the name that Apple sends outside of the ID token, on a user's first sign-in. */
function nameFromAppleUser(text: string | null): string | undefined {
  if (text === null) return undefined;
  try {
    const { data } = appleUserSchema.safeParse(JSON.parse(text));
    return data && `${data.name.firstName} ${data.name.lastName}`.trim();
  } catch {
    return undefined;
  }
}
