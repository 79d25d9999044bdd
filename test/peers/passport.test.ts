import { EventEmitter } from 'node:events';
import OAuth2Strategy from 'passport-oauth2';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { signUp, webApplication } from '../support/oauth/oauth-flow.ts';
import { apiStatus, useServer } from '../support/server/with-server.ts';
import { followThrough } from './sign-in-with.ts';

const server = useServer();

type Outcome = { readonly kind: 'redirect'; readonly to: string } | { readonly kind: 'success'; readonly token: string };

test('passport signs somebody in with PKCE and state', async () => {
  const app = await webApplication(server.db, ['users.read']);
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
    (accessToken: string, _refreshToken: string, _profile: unknown, done: OAuth2Strategy.VerifyCallback) => done(null, { accessToken }),
  );
  const session = {};
  const signedIn = z.object({ accessToken: z.string() });
  /** One request of a browser to the website, as passport hands it to its strategy. */
  const visit = (query: Record<string, string>): Promise<Outcome> =>
    new Promise((resolve, reject) => {
      const acting = Object.assign(Object.create(strategy), {
        redirect: (to: string) => resolve({ kind: 'redirect', to }),
        success: (user: unknown) => resolve({ kind: 'success', token: signedIn.parse(user).accessToken }),
        fail: (why: unknown) => reject(new Error(`refused: ${JSON.stringify(why)}`)),
        error: reject,
      });
      acting.authenticate(Object.assign(new EventEmitter(), { query, session, headers: {}, connection: {} }), {});
    });

  const sent = await visit({});
  if (sent.kind !== 'redirect') throw new Error('passport sent nobody to sign in');
  const back = await followThrough(await signUp(server.origin), sent.to);
  const done = await visit(Object.fromEntries(back.searchParams));
  if (done.kind !== 'success') throw new Error('passport did not sign the person in');
  expect(await apiStatus(server, done.token)).toBe(200);
});
