import { EventEmitter } from 'node:events';
import OAuth2Strategy from 'passport-oauth2';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { signUp, createWebApplication } from '../support/oauth/oauth-flow.ts';
import { fetchApiStatus, useServer } from '../support/server/use-server.ts';
import { completeAuthorization } from '../support/oauth/complete-authorization.ts';

const server = useServer();

type Outcome = { readonly kind: 'redirect'; readonly to: string } | { readonly kind: 'success'; readonly token: string };

test('passport-oauth2 signs a user in with PKCE and state', async () => {
  const app = await createWebApplication(server.db, ['users.read']);
  const strategy = new OAuth2Strategy(
    {
      authorizationURL: `${server.origin}/oauth/authorize`,
      tokenURL: `${server.origin}/oauth/token`,
      clientID: app.clientId,
      clientSecret: app.secret,
      callbackURL: app.redirectUri,
      scope: ['openid', 'users.read'],
      pkce: true,
      state: true,
    },
    (accessToken: string, _refreshToken: string, _profile: unknown, result: OAuth2Strategy.VerifyCallback) => result(null, { accessToken }),
  );
  const session = {};
  const userSchema = z.object({ accessToken: z.string() });
  /** Passes one browser request to the strategy, as Passport does. */
  const visit = (query: Record<string, string>): Promise<Outcome> =>
    new Promise((resolve, reject) => {
      const requestStrategy = Object.assign(Object.create(strategy), {
        redirect: (to: string) => resolve({ kind: 'redirect', to }),
        success: (user: unknown) => resolve({ kind: 'success', token: userSchema.parse(user).accessToken }),
        fail: (reason: unknown) => reject(new Error(`refused: ${JSON.stringify(reason)}`)),
        error: reject,
      });
      requestStrategy.authenticate(Object.assign(new EventEmitter(), { query, session, headers: {}, connection: {} }), {});
    });

  const signInRequest = await visit({});
  if (signInRequest.kind !== 'redirect') throw new Error('passport did not redirect to the authorization endpoint');
  const callbackUrl = await completeAuthorization(await signUp(server.origin), signInRequest.to);
  const result = await visit(Object.fromEntries(callbackUrl.searchParams));
  if (result.kind !== 'success') throw new Error('passport did not sign the user in');
  expect(await fetchApiStatus(server, result.token)).toBe(200);
});
