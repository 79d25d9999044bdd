import { decodeJwt } from 'jose';
import { expect, test } from 'vitest';
import { createClient } from '@mandate/client-sdk';
import { memoryStore, newProofKey, refreshingTokens } from '@mandate/client-sdk/authorization';
import { startStubAuthorizationServer } from './stub-authorization-server.ts';

type Nonces = { token: string; api: string };

/** Returns a `fetch` that rejects every proof without the current nonce, as a server that does not trust the client's clock would. */
function fetchRequiringNonces(current: Nonces, requests: string[]): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const headers = new Headers(init.headers);
    const proof = headers.get('dpop');
    if (proof === null) return fetch(url, init);
    const { pathname } = new URL(url);
    const isToken = pathname === '/token';
    const nonce = isToken ? current.token : current.api;
    const isAccepted = decodeJwt(proof)['nonce'] === nonce;
    requests.push(`${pathname} ${isAccepted ? 'accepted' : 'rejected'}`);
    if (isAccepted) {
      // the stub server accepts only bearer tokens
      headers.set('authorization', headers.get('authorization')?.replace('DPoP', 'Bearer') ?? '');
      return fetch(url, { ...init, headers });
    }
    return Response.json(isToken ? { error: 'use_dpop_nonce' } : { code: 'invalid_token' }, {
      status: isToken ? 400 : 401,
      headers: { 'dpop-nonce': nonce, ...(!isToken && { 'www-authenticate': 'DPoP error="use_dpop_nonce"' }) },
    });
  };
}

async function createBoundClient(url: string, current: Nonces, requests: string[]) {
  const fetchWithNonces = fetchRequiringNonces(current, requests);
  const store = memoryStore({ accessToken: 'old', expiresAt: 0, refreshToken: 'refresh-0', scopes: ['orders.read'] });
  const auth = refreshingTokens({ issuer: url, clientId: 'mandate-cli', store, proofKey: await newProofKey(), fetch: fetchWithNonces });
  return createClient({ baseUrl: url, auth, fetch: fetchWithNonces, maxRetries: 0 });
}

test('a request whose proof lacks the nonce of its endpoint is sent again once, and later proofs contain the nonce', async () => {
  await using server = await startStubAuthorizationServer();
  const [current, requests]: [Nonces, string[]] = [{ token: 'nonce-1', api: 'nonce-2' }, []];
  const client = await createBoundClient(server.url, current, requests);
  await client.orders.get(1);
  await client.orders.get(1);
  expect(requests).toEqual([
    '/token rejected',
    '/token accepted',
    ...['rejected', 'accepted', 'accepted'].map((result) => `/api/v1/orders/1 ${result}`),
  ]);
  expect(server.grants).toEqual(['refresh_token']);
  // the server replaces its nonce
  requests.length = 0;
  current.api = 'nonce-3';
  await client.orders.get(1);
  await client.orders.get(1);
  expect(requests.map((request) => request.split(' ')[1])).toEqual(['rejected', 'accepted', 'accepted']);
});

test('a request is not repeated endlessly for a server that accepts no nonce', async () => {
  await using server = await startStubAuthorizationServer();
  const requests: string[] = [];
  let count = 0;
  const current = {
    token: 'nonce-1',
    get api() {
      return `nonce-${(count += 1)}`;
    },
  };
  const client = await createBoundClient(server.url, current, requests);
  await expect(client.orders.get(1)).rejects.toMatchObject({ status: 401, code: 'invalid_token' });
  // two requests with the first token, and two requests with a new token
  expect(requests.filter((request) => request === '/api/v1/orders/1 rejected')).toHaveLength(4);
});
