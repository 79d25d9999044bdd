import { expect, test } from 'vitest';
import { z } from 'zod';
import type { TokenOperation } from '../../../server/oauth/provider/report-token-operations.ts';
import { askForTokens, commandLine, refresh, refusal, signUp, tokenResponse, tokensFor } from '../../support/oauth/oauth-flow.ts';
import { submitForm } from '../../support/oauth/account-pages.ts';
import { endRefreshGrace } from '../../support/oauth/refresh-grace.ts';
import { useServer } from '../../support/server/with-server.ts';

const told: TokenOperation[] = [];
const server = useServer({ onTokenOperation: (operation) => void told.push(operation) });

/** Somebody new, and nothing told yet. */
async function newPerson(): ReturnType<typeof signUp> {
  const person = await signUp(server.origin);
  told.length = 0;
  return person;
}

const revoke = (token: string): Promise<Response> =>
  fetch(`${server.origin}/oauth/revocation`, { method: 'POST', body: new URLSearchParams({ client_id: commandLine.clientId, token }) });

test('tokens that are given out, and taken back by an application, are told of; one that nobody knows is not', async () => {
  const tokens = await tokensFor(server.origin, await newPerson(), ['users.read']);
  const renewed = tokenResponse.parse(await (await refresh(server.origin, tokens.refresh_token ?? '')).json());
  expect((await revoke('nobody-knows')).status).toBe(200);
  expect((await revoke(renewed.refresh_token ?? '')).status).toBe(200);
  expect(told).toEqual([
    { name: 'issued', grantType: 'authorization_code' },
    { name: 'issued', grantType: 'refresh_token' },
    { name: 'revoked', reason: 'application' },
  ]);
});

test('a refresh token that comes twice is told of as refused and as the end of its grant', async () => {
  const tokens = await tokensFor(server.origin, await newPerson(), ['users.read']);
  await refresh(server.origin, tokens.refresh_token ?? '');
  await endRefreshGrace(server.db);
  expect(await refusal(await refresh(server.origin, tokens.refresh_token ?? ''))).toBe('400 invalid_grant');
  expect(told.slice(2)).toEqual([
    { name: 'refused', grantType: 'refresh_token', error: 'invalid_grant' },
    { name: 'revoked', reason: 'reuse' },
  ]);
});

test('a repeated refresh within the grace period is a replay, and not an alarm', async () => {
  const tokens = await tokensFor(server.origin, await newPerson(), ['users.read']);
  for (let time = 0; time < 2; time += 1) expect((await refresh(server.origin, tokens.refresh_token ?? '')).status).toBe(200);
  expect(told.slice(1)).toEqual([{ name: 'issued', grantType: 'refresh_token' }, { name: 'replayed' }]);
});

test('what a person takes back is told of, by the API and by the pages', async () => {
  const anna = await newPerson();
  const { access_token: token } = await tokensFor(server.origin, anna, ['connected_apps.read', 'connected_apps.write']);
  const apps = `${server.origin}/api/v1/connected-apps`;
  const asAnna = { authorization: `Bearer ${token}` };
  const { data } = z.object({ data: z.array(z.object({ id: z.number() })) }).parse(await (await fetch(apps, { headers: asAnna })).json());
  told.length = 0;
  expect((await fetch(`${apps}/4711`, { method: 'DELETE', headers: asAnna })).status).toBe(404);
  expect(told).toEqual([]);
  expect((await fetch(`${apps}/${data[0]?.id}`, { method: 'DELETE', headers: asAnna })).status).toBe(204);
  expect(told).toEqual([{ name: 'revoked', reason: 'person' }]);

  await tokensFor(server.origin, anna, ['users.read']);
  told.length = 0;
  const page = await anna.browser.open('/account/apps');
  const app = /name="app" value="(\d+)"/.exec(page.text)?.[1] ?? '';
  await submitForm(anna.browser, page, 'name="app"', { app });
  await submitForm(anna.browser, await anna.browser.open('/account/sessions'), 'name="everywhere"', { everywhere: 'yes' });
  expect(told).toEqual([
    { name: 'revoked', reason: 'person' },
    { name: 'revoked', reason: 'person' },
  ]);
});

test('what callers make up is not repeated', async () => {
  told.length = 0;
  expect(await refusal(await askForTokens(server.origin, { grant_type: 'hunter2', client_id: commandLine.clientId }))).toBe(
    '400 unsupported_grant_type',
  );
  expect(told).toEqual([{ name: 'refused', grantType: 'other', error: 'unsupported_grant_type' }]);
});
