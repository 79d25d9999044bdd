import { expect, test } from 'vitest';
import type { TokenOperation } from '../../server/oauth/token-operations.ts';
import { askForTokens, commandLine, refresh, refusal, signUp, tokenResponse, tokensFor } from '../support/oauth-flow.ts';
import { useServer } from '../support/use-server.ts';

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
  expect(await refusal(await refresh(server.origin, tokens.refresh_token ?? ''))).toBe('400 invalid_grant');
  expect(told.slice(2)).toEqual([
    { name: 'refused', grantType: 'refresh_token', error: 'invalid_grant' },
    { name: 'revoked', reason: 'reuse' },
  ]);
});

test('what callers make up is not repeated', async () => {
  told.length = 0;
  expect(await refusal(await askForTokens(server.origin, { grant_type: 'hunter2', client_id: commandLine.clientId }))).toBe(
    '400 unsupported_grant_type',
  );
  expect(told).toEqual([{ name: 'refused', grantType: 'other', error: 'unsupported_grant_type' }]);
});
