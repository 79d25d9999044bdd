import dns from 'node:dns';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createRegistrationToken } from '../../../server/access-management/create-registration-token.ts';
import { requireOneProcess } from '../../support/server/process-mode.ts';
import { obtainClientToken, createConfidentialClient } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

requireOneProcess('the tests count the connections that the server process opens');
const server = useServer();

const errorResponse = z.object({ error: z.string(), error_description: z.string() });
const metadata = { client_name: 'Test client', redirect_uris: ['https://dev.example/callback'], scope: 'openid orders.read' };

/**
 * Client metadata fields with URLs that the server does not fetch at registration: those that it uses only for redirects or display, the
 * URL for logout tokens, and the URI in a certificate, which is only a name.
 */
const unfetchedFields = [
  'tls_client_auth_san_uri',
  'policy_uri',
  'tos_uri',
  'client_uri',
  'logo_uri',
  'backchannel_logout_uri',
  'post_logout_redirect_uris',
  'redirect_uris',
];

/**
 * Returns all client metadata fields with URLs, read from the source of oidc-provider, so that fields that later versions add are also
 * tested.
 */
async function urlFields(): Promise<string[]> {
  const file = join(import.meta.dirname, '../../../node_modules/oidc-provider/lib/consts/client_attributes.js');
  const lists = z.object({ RECOGNIZED_METADATA: z.array(z.string()), STRING: z.array(z.string()), WEB_URI: z.array(z.string()) });
  const { RECOGNIZED_METADATA, STRING, WEB_URI } = lists.parse(await import(pathToFileURL(file).href));
  const namedLikeUrls = [...RECOGNIZED_METADATA, ...STRING].filter((name) => /_(uris?|url|endpoint)$/.test(name));
  return [...new Set([...WEB_URI, ...namedLikeUrls, 'request_uris'])];
}

const register = async (overrides: object): Promise<Response> => {
  const { token } = await createRegistrationToken(server.db.em, 600, new Date());
  return fetch(`${server.origin}/oauth/registration`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ ...metadata, ...overrides }),
  });
};

describe('a URL in client metadata', () => {
  let listener: Server;
  let port: number;
  let connections: number;
  let fields: string[];

  beforeAll(async () => {
    fields = await urlFields();
    listener = createServer((socket) => {
      connections += 1;
      socket.on('error', () => undefined);
      socket.destroy();
    });
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    ({ port } = z.object({ port: z.number() }).parse(listener.address()));
  });
  afterAll(() => void listener.close());
  beforeEach(() => {
    connections = 0;
    const lookup = dns.lookup;
    const resolveLocally: unknown = (host: string, ...rest: unknown[]) =>
      Reflect.apply(lookup, dns, [host === 'public.example' ? '127.0.0.1' : host, ...rest]);
    vi.spyOn(dns, 'lookup').mockImplementation(z.custom<typeof dns.lookup>().parse(resolveLocally));
  });
  afterEach(() => vi.restoreAllMocks());

  test('is tested in every URL field of the library schema', () => {
    expect(fields).toEqual(
      expect.arrayContaining(['sector_identifier_uri', 'jwks_uri', 'logo_uri', 'request_uris', 'backchannel_logout_uri']),
    );
  });

  test.each(['127.0.0.1', 'public.example'])(
    'that resolves to this machine (%s) is never fetched, and the error names the field',
    async (host) => {
      const unexpectedResponses: unknown[] = [];
      for (const field of fields) {
        for (const url of [`https://${host}:${port}/x`, `http://${host}:${port}/x`]) {
          const response = await register({ [field]: field.endsWith('s') ? [url] : url });
          const { error, error_description: description = '' } = errorResponse.partial().parse(await response.json());
          if (unfetchedFields.includes(field)) continue;
          if (error !== 'invalid_client_metadata' || !description.includes(field))
            unexpectedResponses.push([field, response.status, error, description]);
        }
      }
      expect({ connections, unexpectedResponses }).toEqual({ connections: 0, unexpectedResponses: [] });
    },
  );

  test('is rejected in a field with an unknown name', async () => {
    const response = await register({ some_document: { nested: [`https://127.0.0.1:${port}/`] } });
    expect([response.status, errorResponse.parse(await response.json()).error_description]).toEqual([
      400,
      expect.stringContaining('some_document'),
    ]);
    expect(connections).toBe(0);
  });

  test('from the applications API is never fetched', async () => {
    const client = await createConfidentialClient(server.db, ['applications.manage']);
    const token = await obtainClientToken(server.origin, client, ['applications.manage']);
    const response = await fetch(`${server.origin}/api/v1/applications`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({
        name: 'Test application',
        type: 'public',
        scopes: [],
        grant_types: ['authorization_code'],
        redirect_uris: [`https://public.example:${port}/callback`],
        post_logout_redirect_uris: [`https://public.example:${port}/`],
        logo_uri: `https://public.example:${port}/logo.png`,
      }),
    });
    expect(response.status).toBe(201);
    expect(connections).toBe(0);
  });
});
