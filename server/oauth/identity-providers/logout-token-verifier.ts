import { createLocalJWKSet, errors as joseErrors, jwtVerify, type JWK, type JWTVerifyGetKey } from 'jose';
import type { AuthorizationServer } from 'oauth4webapi';
import { z } from 'zod';
import type { IdentityProviderRow } from '../../identity-providers/identity-provider.entity.ts';
import type { NetworkPolicy } from '../../outgoing-http/ssrf-protected-connection.ts';
import { UnusableDocumentError } from '../../outgoing-http/fetch-and-parse-json-document.ts';
import { ClientKeyCache } from '../clients/client-key-cache.ts';
import { InvalidProviderResponseError, IdentityProviderUnavailableError } from './provider-errors.ts';

/** Maximum clock difference between the provider and this server, in seconds. */
export const clockToleranceSeconds = 60;

const algorithms = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'] as const;
const keysSchema = z.array(z.custom<JWK>());
const maxTokenAge = 5 * 60;
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
const claimsSchema = z.object({
  jti: z.string().min(1).max(255),
  sub: z.string().min(1).max(255),
  events: z.object({ [logoutEvent]: z.object({}).passthrough() }).passthrough(),
  // A token with a nonce is an ID token, not a logout token.
  nonce: z.undefined(),
});

/** The account whose sessions must end, and the ID of the logout token. */
export type VerifiedLogoutToken = { readonly id: string; readonly issuer: string; readonly subject: string };

/** Verifies logout tokens from providers. The keys that providers publish are cached. */
export class LogoutTokenVerifier {
  readonly #keys: ClientKeyCache;

  constructor(network: NetworkPolicy) {
    this.#keys = new ClientKeyCache(network);
  }

  /**
   * Verifies a logout token (OpenID Connect Back-Channel Logout section 2.6). Tokens without `sub` are not supported.
   * @throws {IdentityProviderUnavailableError}
   * @throws {InvalidProviderResponseError}
   */
  async verify(
    { slug, clientId: audience }: IdentityProviderRow,
    { issuer, jwks_uri: jwksUri }: Pick<AuthorizationServer, 'issuer' | 'jwks_uri'>,
    token: string,
  ): Promise<VerifiedLogoutToken> {
    if (jwksUri === undefined) throw new InvalidProviderResponseError('the provider publishes no keys');
    try {
      const lookUpKeys = async (kid: string | undefined) =>
        createLocalJWKSet({ keys: keysSchema.parse(await this.#keys.load({ clientId: `identity provider ${slug}`, jwksUri, kid })) });
      const selectKey: JWTVerifyGetKey = async (header, jws) => (await lookUpKeys(header.kid))(header, jws);
      const options = { issuer, audience, algorithms: [...algorithms], clockTolerance: clockToleranceSeconds, maxTokenAge };
      const { payload } = await jwtVerify(token, selectKey, options);
      const { jti, sub } = claimsSchema.parse(payload);
      return { id: jti, issuer, subject: sub };
    } catch (error) {
      if (error instanceof UnusableDocumentError) throw new IdentityProviderUnavailableError(error.message);
      if (error instanceof joseErrors.JOSEError || error instanceof z.ZodError)
        throw new InvalidProviderResponseError('the logout token is not valid');
      throw error;
    }
  }
}
