import { createHash, randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { Request } from 'express';
import OpenIDConnectStrategy from 'passport-openidconnect';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { signUp, createWebApplication } from '../support/oauth/oauth-flow.ts';
import { fetchApiStatus, useServer } from '../support/server/use-server.ts';
import { completeAuthorization } from '../support/oauth/complete-authorization.ts';
import { expectSignOut } from './client-program.ts';

const server = useServer();

/** passport-openidconnect 0.1.2 does not support PKCE, which the server requires. docs/clients.md links to this subclass. */
class StrategyWithPkce extends OpenIDConnectStrategy {
  private verifier = '';

  /** Passport calls this method on a separate object for each request. */
  override authenticate(request: Request & { session: { verifier?: string } }, options?: OpenIDConnectStrategy.AuthenticateOptions): void {
    request.session.verifier ??= randomBytes(32).toString('base64url');
    const { verifier } = request.session;
    const { _oauth2: oauth2 } = this;
    this.verifier = verifier;
    // oxlint-disable-next-line no-underscore-dangle -- the library's protected member has this name
    this._oauth2 = Object.assign(Object.create(oauth2), {
      getOAuthAccessToken: (code: string, form: object, done: Parameters<typeof oauth2.getOAuthAccessToken>[1]) =>
        oauth2.getOAuthAccessToken(code, { ...form, code_verifier: verifier }, done),
    });
    super.authenticate(request, options);
  }

  override authorizationParams(): object {
    const challenge = createHash('sha256').update(this.verifier).digest('base64url');
    return { code_challenge: challenge, code_challenge_method: 'S256' };
  }

  /** Refreshes an access token as the package passport-oauth2-refresh does, because the strategy has no method that refreshes tokens. */
  refresh(refreshToken: string): Promise<string> {
    return new Promise((resolve, reject) => {
      // oxlint-disable-next-line no-underscore-dangle -- the library's protected member has this name
      this._oauth2.getOAuthAccessToken(refreshToken, { grant_type: 'refresh_token' }, (error, accessToken) =>
        accessToken === undefined ? reject(new Error(JSON.stringify(error))) : resolve(accessToken),
      );
    });
  }
}

type Outcome = { readonly redirect: string } | { readonly user: unknown };

/** passport-openidconnect counts this function's parameters, and passes the userinfo response only if there are nine parameters. */
const verify = (
  _issuer: string,
  uiProfile: object,
  _idProfile: object,
  _context: object,
  idToken: object | string,
  accessToken: object | string,
  refreshToken: string,
  _response: unknown,
  done: OpenIDConnectStrategy.VerifyCallback,
): void => done(null, { profile: uiProfile, accessToken, refreshToken, idToken });

const signedInUser = z.object({
  user: z.object({ accessToken: z.string(), refreshToken: z.string(), idToken: z.string(), profile: z.unknown() }),
});

test('passport-openidconnect loads the profile from userinfo, and its tokens can be used, refreshed and signed out', async () => {
  const anna = await signUp(server.origin);
  const app = await createWebApplication(server.db, ['users.read']);
  const strategy = new StrategyWithPkce(
    {
      issuer: server.origin,
      authorizationURL: `${server.origin}/oauth/authorize`,
      tokenURL: `${server.origin}/oauth/token`,
      userInfoURL: `${server.origin}/oauth/userinfo`,
      clientID: app.clientId,
      clientSecret: app.secret,
      callbackURL: app.redirectUri,
      scope: ['profile', 'email', 'users.read'],
    },
    verify,
  );
  const session = {};
  /** Passes one browser request to the strategy, as Passport does. */
  const visit = (query: Record<string, string>): Promise<Outcome> =>
    new Promise((resolve, reject) => {
      const request = Object.assign(Object.create(strategy), {
        redirect: (redirect: string) => resolve({ redirect }),
        success: (user: unknown) => resolve({ user }),
        fail: (reason: unknown) => reject(new Error(`refused: ${JSON.stringify(reason)}`)),
        error: reject,
      });
      request.authenticate(Object.assign(new EventEmitter(), { query, session, headers: {}, connection: {} }), {});
    });

  const { redirect } = z.object({ redirect: z.string() }).parse(await visit({}));
  const callback = await completeAuthorization(anna, redirect);
  const { user } = signedInUser.parse(await visit(Object.fromEntries(callback.searchParams)));
  expect(user.profile).toMatchObject({
    id: String(anna.id),
    displayName: anna.name,
    emails: [{ value: anna.email }],
    _json: { email_verified: true },
  });
  const refreshed = await strategy.refresh(user.refreshToken);
  expect(refreshed).not.toBe(user.accessToken);
  for (const token of [user.accessToken, refreshed]) expect(await fetchApiStatus(server, token)).toBe(200);
  await expectSignOut(anna, `/oauth/logout?${new URLSearchParams({ id_token_hint: user.idToken }).toString()}`);
});
