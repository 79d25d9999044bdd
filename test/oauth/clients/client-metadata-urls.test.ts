import dns from 'node:dns';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { createRegistrationToken } from '../../../server/access-management/registration-token.ts';
import { needsOneProcess } from '../../support/server/process-mode.ts';
import { clientCredentials, confidentialClient } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/with-server.ts';

needsOneProcess('counts the connections that the process of its server opens');
const server = useServer();

const refused = z.object({ error: z.string(), error_description: z.string() });
const metadata = { client_name: 'Test client', redirect_uris: ['https://dev.example/callback'], scope: 'openid orders.read' };

/** URLs that people are sent to, or that are shown as text: the server requests none of them. */
const neverRequested = ['redirect_uris', 'post_logout_redirect_uris', 'client_uri', 'policy_uri', 'tos_uri'];

/** Every client metadata field that holds a URL, from the library's own schema, so that a field of its next version is tested as well. */
async function urlFields(): Promise<string[]> {
  const file = join(import.meta.dirname, '../../../node_modules/oidc-provider/lib/consts/client_attributes.js');
  const lists = z.object({ RECOGNIZED_METADATA: z.array(z.string()), STRING: z.array(z.string()), WEB_URI: z.array(z.string()) });
  const { RECOGNIZED_METADATA, STRING, WEB_URI } = lists.parse(await import(pathToFileURL(file).href));
  const named = [...RECOGNIZED_METADATA, ...STRING].filter((name) => /_(uris?|url|endpoint)$/.test(name));
  return [...new Set([...WEB_URI, ...named, 'request_uris'])];
}

const register = async (given: object): Promise<Response> => {
  const { token } = await createRegistrationToken(server.db.em, 600, new Date());
  return fetch(`${server.origin}/oauth/registration`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ ...metadata, ...given }),
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
    const local: unknown = (host: string, ...rest: unknown[]) =>
      Reflect.apply(lookup, dns, [host === 'public.example' ? '127.0.0.1' : host, ...rest]);
    vi.spyOn(dns, 'lookup').mockImplementation(z.custom<typeof dns.lookup>().parse(local));
  });
  afterEach(() => vi.restoreAllMocks());

  test('is taken from the schema of the library', () => {
    expect(fields).toEqual(
      expect.arrayContaining(['sector_identifier_uri', 'jwks_uri', 'logo_uri', 'request_uris', 'backchannel_logout_uri']),
    );
  });

  test.each(['127.0.0.1', 'public.example'])(
    'that leads to this machine (%s) is never connected to, and is refused by its name',
    async (host) => {
      const wrong: unknown[] = [];
      for (const field of fields) {
        for (const url of [`https://${host}:${port}/x`, `http://${host}:${port}/x`]) {
          const response = await register({ [field]: field.endsWith('s') ? [url] : url });
          const { error, error_description: description = '' } = refused.partial().parse(await response.json());
          if (neverRequested.includes(field)) continue;
          if (error !== 'invalid_client_metadata' || !description.includes(field)) wrong.push([field, response.status, error, description]);
        }
      }
      expect({ connections, wrong }).toEqual({ connections: 0, wrong: [] });
    },
  );

  test('is refused in a field that has no name of a URL', async () => {
    const response = await register({ some_document: { nested: [`https://127.0.0.1:${port}/`] } });
    expect([response.status, refused.parse(await response.json()).error_description]).toEqual([
      400,
      expect.stringContaining('some_document'),
    ]);
    expect(connections).toBe(0);
  });

  test('of the applications API is never connected to', async () => {
    const client = await confidentialClient(server.db, ['applications.manage']);
    const token = await clientCredentials(server.origin, client, ['applications.manage']);
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
