import { expect, test } from 'vitest';
import { z } from 'zod';
import type { TokenOperation } from '../../../server/oauth/provider/report-token-operations.ts';
import {
  sendTokenRequest,
  cliClient,
  sendRefreshRequest,
  readOAuthError,
  signUp,
  tokenResponseSchema,
  obtainTokens,
} from '../../support/oauth/oauth-flow.ts';
import { submitFormContaining } from '../../support/oauth/account-pages.ts';
import { expireRefreshGrace } from '../../support/oauth/refresh-grace.ts';
import { useServer } from '../../support/server/use-server.ts';

const operations: TokenOperation[] = [];
const server = useServer({ onTokenOperation: (operation) => void operations.push(operation) });

/** Signs up a user and discards the token operations that the server has reported so far. */
async function signUpAndResetOperations(): ReturnType<typeof signUp> {
  const person = await signUp(server.origin);
  operations.length = 0;
  return person;
}

const revoke = (token: string): Promise<Response> =>
  fetch(`${server.origin}/oauth/revocation`, { method: 'POST', body: new URLSearchParams({ client_id: cliClient.clientId, token }) });

test('issued and revoked tokens are reported, and the revocation of an unknown token is not', async () => {
  const tokens = await obtainTokens(server.origin, await signUpAndResetOperations(), ['users.read']);
  const renewed = tokenResponseSchema.parse(await (await sendRefreshRequest(server.origin, tokens.refresh_token ?? '')).json());
  expect((await revoke('nobody-knows')).status).toBe(200);
  expect((await revoke(renewed.refresh_token ?? '')).status).toBe(200);
  expect(operations).toEqual([
    { name: 'issued', grantType: 'authorization_code' },
    { name: 'issued', grantType: 'refresh_token' },
    { name: 'revoked', reason: 'application' },
  ]);
});

test('reuse of a refresh token is reported as a rejected request and a revoked grant', async () => {
  const tokens = await obtainTokens(server.origin, await signUpAndResetOperations(), ['users.read']);
  await sendRefreshRequest(server.origin, tokens.refresh_token ?? '');
  await expireRefreshGrace(server.db);
  expect(await readOAuthError(await sendRefreshRequest(server.origin, tokens.refresh_token ?? ''))).toBe('400 invalid_grant');
  expect(operations.slice(2)).toEqual([
    { name: 'refused', grantType: 'refresh_token', error: 'invalid_grant' },
    { name: 'revoked', reason: 'reuse' },
  ]);
});

test('a repeated refresh within the grace period is reported as a replay and not as reuse', async () => {
  const tokens = await obtainTokens(server.origin, await signUpAndResetOperations(), ['users.read']);
  for (let time = 0; time < 2; time += 1) expect((await sendRefreshRequest(server.origin, tokens.refresh_token ?? '')).status).toBe(200);
  expect(operations.slice(1)).toEqual([{ name: 'issued', grantType: 'refresh_token' }, { name: 'replayed' }]);
});

test('revocations by the user are reported, through the API and the account pages', async () => {
  const anna = await signUpAndResetOperations();
  const { access_token: token } = await obtainTokens(server.origin, anna, ['connected_apps.read', 'connected_apps.write']);
  const apps = `${server.origin}/api/v1/connected-apps`;
  const headers = { authorization: `Bearer ${token}` };
  const { data } = z.object({ data: z.array(z.object({ id: z.number() })) }).parse(await (await fetch(apps, { headers })).json());
  operations.length = 0;
  expect((await fetch(`${apps}/4711`, { method: 'DELETE', headers })).status).toBe(404);
  expect(operations).toEqual([]);
  expect((await fetch(`${apps}/${data[0]?.id}`, { method: 'DELETE', headers })).status).toBe(204);
  expect(operations).toEqual([{ name: 'revoked', reason: 'person' }]);

  await obtainTokens(server.origin, anna, ['users.read']);
  operations.length = 0;
  const page = await anna.browser.open('/account/apps');
  const app = /name="app" value="(\d+)"/.exec(page.text)?.[1] ?? '';
  await submitFormContaining(anna.browser, page, 'name="app"', { app });
  await submitFormContaining(anna.browser, await anna.browser.open('/account/sessions'), 'name="everywhere"', { everywhere: 'yes' });
  expect(operations).toEqual([
    { name: 'revoked', reason: 'person' },
    { name: 'revoked', reason: 'person' },
  ]);
});

test('an unknown grant_type is reported as "other"', async () => {
  operations.length = 0;
  expect(await readOAuthError(await sendTokenRequest(server.origin, { grant_type: 'hunter2', client_id: cliClient.clientId }))).toBe(
    '400 unsupported_grant_type',
  );
  expect(operations).toEqual([{ name: 'refused', grantType: 'other', error: 'unsupported_grant_type' }]);
});
