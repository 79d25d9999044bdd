import { expect, test } from 'vitest';
import { withSsrfProtectedConnection, type NetworkPolicy } from '../../../server/outgoing-http/ssrf-protected-connection.ts';

/** A network whose name server never responds. */
const network: NetworkPolicy = { resolve: () => Promise.withResolvers<never>().promise, isAllowed: () => true, development: false };
const url = 'https://hooks.example.com/';
const connect = (options: { readonly totalMs: number; readonly signal?: AbortSignal }) =>
  withSsrfProtectedConnection({ url, network, ...options }, () => Promise.reject(new Error('a connection was opened')));

test('a request that was aborted before it started fails without waiting for the name server', async () => {
  await expect(connect({ totalMs: 60_000, signal: AbortSignal.abort(new Error('stopping')) })).rejects.toThrow('stopping');
});

test('a request that is aborted while it waits for the name server fails', async () => {
  const stopping = new AbortController();
  const pending = connect({ totalMs: 60_000, signal: stopping.signal });
  stopping.abort(new Error('stopping'));
  await expect(pending).rejects.toThrow('stopping');
});

test('a request whose name server does not respond fails after its timeout', async () => {
  await expect(connect({ totalMs: 20 })).rejects.toMatchObject({ name: 'TimeoutError' });
});

test.each(['https://127.0.0.1/', 'http://hooks.example.com/'])('a request to %s fails before the host is resolved', async (forbidden) => {
  const request = { url: forbidden, network, totalMs: 60_000 };
  await expect(withSsrfProtectedConnection(request, () => Promise.resolve())).rejects.toMatchObject({ name: 'AddressNotAllowedError' });
});
