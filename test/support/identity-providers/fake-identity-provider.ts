import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { encryptIdentityProviderCredential } from '../../../server/identity-providers/identity-provider-credential.ts';
import { IdentityProviderEntity, type IdentityProviderRow } from '../../../server/identity-providers/identity-provider.entity.ts';
import { deriveKeys } from '../../../server/crypto/derived-keys-and-server-secret.ts';
import { closeServer, listenOnLoopback } from '../network/loopback-server.ts';
import { testServerSecret } from '../server/test-server-secret.ts';

export type FakeClaims = Readonly<Record<string, unknown>>;
type IssuedCode = { readonly claims: FakeClaims; readonly challenge: string; readonly redirectUri: string };
type SigningKey = { readonly privateKey: CryptoKey; readonly publicJwk: JWK };

const clientId = 'shop';

/**
 * An OpenID Connect provider whose responses a test can falsify. Browsers never open the provider's pages. Instead, `authorize` responds as
 * a real provider does after a user has signed in.
 */
export class FakeIdentityProvider {
  readonly #server = createServer((req, res) => void this.#handle(req, res));
  readonly #codes = new Map<string, IssuedCode>();
  readonly #refreshTokens = new Map<string, FakeClaims>();
  #key: SigningKey | undefined;
  issuer = '';
  readonly clientSecret = `provider-secret-${randomUUID()}`;
  /** Changes the ID token before it is sent. */
  alterIdToken: (token: string) => string | Promise<string> = (token) => token;
  /** Handles a request in place of the provider. Returns false if the provider should handle the request. */
  intercept: (req: IncomingMessage, res: ServerResponse) => boolean = () => false;
  /** Forms that the token endpoint has received. */
  readonly tokenRequests: URLSearchParams[] = [];
  /** Additional members of the provider's metadata. */
  metadata: Readonly<Record<string, unknown>> = {};
  /** Whether token responses contain a refresh token, which can be used once. */
  issuesRefreshTokens = false;

  async start(): Promise<void> {
    await this.rotateKey();
    this.issuer = `http://127.0.0.1:${await listenOnLoopback(this.#server)}`;
  }

  stop(): Promise<void> {
    return closeServer(this.#server);
  }

  /** Restores the behavior of an honest provider. */
  reset(): void {
    this.alterIdToken = (token) => token;
    this.intercept = () => false;
    this.metadata = {};
    this.issuesRefreshTokens = false;
  }

  /** Closes an account, so that its refresh tokens are rejected with `invalid_grant`. */
  endAccount(sub: string): void {
    for (const [token, claims] of this.#refreshTokens) if (claims['sub'] === sub) this.#refreshTokens.delete(token);
  }

  /** Returns the refresh tokens that the provider currently accepts for an account. */
  refreshTokensOf(sub: unknown): string[] {
    return [...this.#refreshTokens].filter(([, claims]) => claims['sub'] === sub).map(([token]) => token);
  }

  /** Replaces the signing key; the old key is no longer published. */
  async rotateKey(): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    this.#key = { privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid: randomUUID(), alg: 'ES256', use: 'sig' } };
  }

  /** Signs a JWT with the current key. */
  signJwt(claims: FakeClaims, header: Readonly<Record<string, string>> = {}): Promise<string> {
    if (!this.#key) throw new Error('the provider has not started');
    const { privateKey, publicJwk } = this.#key;
    return new SignJWT({ ...claims }).setProtectedHeader({ alg: 'ES256', kid: publicJwk.kid ?? '', ...header }).sign(privateKey);
  }

  /** Returns the provider's redirect to the shop after a user with these claims has signed in. */
  authorize(request: URL, claims: FakeClaims): URL {
    const parameters = request.searchParams;
    const redirectUri = parameters.get('redirect_uri') ?? '';
    const code = randomBytes(16).toString('base64url');
    const nonce = parameters.get('nonce');
    this.#codes.set(code, { claims: { nonce, ...claims }, challenge: parameters.get('code_challenge') ?? '', redirectUri });
    const response = new URL(redirectUri);
    response.search = new URLSearchParams({ code, state: parameters.get('state') ?? '', iss: this.issuer }).toString();
    return response;
  }

  async #handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (this.intercept(req, res)) return;
    const sendJson = (status: number, body: unknown): void => {
      res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (req.url === '/.well-known/openid-configuration') return sendJson(200, this.#metadata());
    if (req.url === '/jwks') return sendJson(200, { keys: [this.#key?.publicJwk] });
    if (req.url !== '/token' || req.method !== 'POST') return sendJson(404, {});
    const form = new URLSearchParams(await text(req));
    this.tokenRequests.push(form);
    const claims = form.get('grant_type') === 'refresh_token' ? this.#redeemRefreshToken(form) : this.#redeemCode(form);
    if (!claims) return sendJson(400, { error: 'invalid_grant' });
    const now = Math.floor(Date.now() / 1000);
    const standard = { iss: this.issuer, aud: clientId, iat: now, exp: now + 300 };
    const idToken = await this.alterIdToken(await this.signJwt({ ...standard, ...claims }));
    const refreshToken = this.issuesRefreshTokens ? { refresh_token: this.#issueRefreshToken(claims) } : {};
    return sendJson(200, { access_token: randomUUID(), token_type: 'Bearer', expires_in: 300, id_token: idToken, ...refreshToken });
  }

  /** Returns the claims of the user who has signed in, or undefined for a code that cannot be redeemed. */
  #redeemCode(form: URLSearchParams): FakeClaims | undefined {
    const issued = this.#codes.get(form.get('code') ?? '');
    this.#codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    return issued?.challenge === challenge && issued.redirectUri === form.get('redirect_uri') ? issued.claims : undefined;
  }

  #redeemRefreshToken(form: URLSearchParams): FakeClaims | undefined {
    const token = form.get('refresh_token') ?? '';
    const claims = this.#refreshTokens.get(token);
    this.#refreshTokens.delete(token);
    return claims;
  }

  #issueRefreshToken(claims: FakeClaims): string {
    const token = `provider-refresh-${randomUUID()}`;
    this.#refreshTokens.set(token, claims);
    return token;
  }

  #metadata() {
    return {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      jwks_uri: `${this.issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      authorization_response_iss_parameter_supported: true,
      ...this.metadata,
    };
  }
}

type ProviderFields = Partial<Omit<IdentityProviderRow, 'id' | 'slug' | 'version' | 'createdAt' | 'updatedAt'>>;

/** Stores a provider in the database, as the API does. */
export async function insertIdentityProvider(
  { em }: Database,
  { issuer, clientSecret }: { readonly issuer: string; readonly clientSecret: string },
  { slug, ...fields }: ProviderFields & { readonly slug: string },
): Promise<void> {
  const { identityProviders: key } = deriveKeys(testServerSecret);
  const fork = em.fork();
  fork.create(IdentityProviderEntity, {
    slug,
    issuer,
    preset: 'oidc',
    name: 'Example ID',
    clientId,
    tokenEndpointAuthMethod: 'client_secret_basic',
    sealedCredential: encryptIdentityProviderCredential(clientSecret, slug, key),
    scopes: ['openid', 'email', 'profile'],
    audience: 'everyone',
    createsAccounts: true,
    twoFactorValues: ['mfa'],
    requiredForStaff: false,
    status: 'enabled',
    ...fields,
  });
  await fork.flush();
}

/** Changes a provider in the database. */
export const changeIdentityProvider = ({ em }: Database, slug: string, fields: ProviderFields): Promise<number> =>
  em.fork().nativeUpdate(IdentityProviderEntity, { slug }, fields);

/** Returns the claims of a new user whose e-mail address the provider has verified. */
export function newProviderUser(): { sub: string; email: string; email_verified: boolean; name: string } {
  const id = randomBytes(6).toString('hex');
  return { sub: `subject-${id}`, email: `paula.${id}@example.com`, email_verified: true, name: 'Paula Provider' };
}
