import { describe, expect, test } from 'vitest';
import { createPublicAddressesOnlyNetworkPolicy } from '../../../server/outgoing-http/ssrf-protected-connection.ts';
import { clientMetadataHost, type ClientMetadataServer } from '../../support/network/client-metadata-server.ts';
import { startMandateServer, type JsonBody } from '../../support/server/start-mandate.ts';
import { ClientMetadataFixture, createDocumentPath } from '../../support/oauth/client-metadata-fixture.ts';
import {
  buildAuthorizationRequest,
  obtainAuthorizationCode,
  authorizationPath,
  redeemCode,
  sendRefreshRequest,
  signUp,
  signUpWithRole,
  tokenResponseSchema,
} from '../../support/oauth/oauth-flow.ts';

const shop = new ClientMetadataFixture();
const request = (clientId: string, parameters: Record<string, string> = {}) => ({ client_id: clientId, ...parameters });

describe('a URL as client ID', () => {
  test('is listed as supported in the server metadata', async () => {
    for (const name of ['oauth-authorization-server', 'openid-configuration']) {
      const metadata: JsonBody = await (await fetch(`${shop.mandate.origin}/.well-known/${name}`)).json();
      expect(metadata).toMatchObject({ client_id_metadata_document_supported: true, code_challenge_methods_supported: ['S256'] });
    }
  });

  test('with a loopback redirect URI makes the consent page show the document host and warn about local programs', async () => {
    const clientId = shop.metadataServer.publishMetadata(createDocumentPath());
    const page = await shop.openAuthorization(clientId);
    expect(page.url.pathname).toMatch(/^\/consent\//);
    expect(page.text).toContain('Test assistant');
    expect(page.text).toContain(`<strong>${new URL(clientId).host}</strong>`);
    expect(page.text).toContain('Any program on this computer can use this application’s name.');
    const tokens = tokenResponseSchema.parse(
      await (
        await redeemCode(shop.mandate.origin, await obtainAuthorizationCode(shop.mandate.origin, shop.anna, request(clientId)))
      ).json(),
    );
    const api = await shop.mandate.callApi('GET', '/api/v1/orders', { token: tokens.access_token });
    expect(api.status).toBe(200);
    const refreshed = await sendRefreshRequest(shop.mandate.origin, tokens.refresh_token ?? '', { client_id: clientId });
    expect(refreshed.status).toBe(200);
  });

  test('with an https redirect URI causes no warning about local programs', async () => {
    const clientId = shop.metadataServer.publishMetadata(createDocumentPath(), { redirect_uris: ['https://app.example/callback'] });
    const page = await shop.openAuthorization(clientId, { redirect_uri: 'https://app.example/callback' });
    expect(page.text).toContain('You will be sent back to app.example.');
    expect(page.text).not.toContain('Any program on this computer');
  });

  test('requires consent at every sign-in', async () => {
    const clientId = shop.metadataServer.publishMetadata(createDocumentPath(), { redirect_uris: ['https://app.example/callback'] });
    const parameters = { redirect_uri: 'https://app.example/callback', scope: 'openid orders.read' };
    await obtainAuthorizationCode(shop.mandate.origin, shop.anna, request(clientId, parameters));
    expect((await shop.openAuthorization(clientId, parameters)).url.pathname).toMatch(/^\/consent\//);
    const silentPage = await shop.openAuthorization(clientId, { ...parameters, prompt: 'none' });
    expect(silentPage.externalRedirect?.searchParams.get('error')).toBe('consent_required');
  });

  test('is accepted in a pushed authorization request', async () => {
    const clientId = shop.metadataServer.publishMetadata(createDocumentPath());
    const { query } = buildAuthorizationRequest(request(clientId));
    const pushed = await fetch(`${shop.mandate.origin}/oauth/par`, { method: 'POST', body: new URLSearchParams(query) });
    expect(pushed.status).toBe(201);
    const { request_uri: requestUri }: JsonBody = await pushed.json();
    const page = await shop.anna.browser.open(authorizationPath({ client_id: clientId, request_uri: requestUri }));
    expect(page.text).toContain(clientMetadataHost);
  });

  test('cannot get administrative scopes, even with a document that lists them and an administrator who signs in', async () => {
    const clientId = shop.metadataServer.publishMetadata(createDocumentPath(), {
      scope: 'openid orders.read users.manage applications.manage',
    });
    const admin = await signUpWithRole(shop.mandate.db, shop.mandate.origin, 'admin');
    const page = await shop.openAuthorization(clientId, { scope: 'openid orders.read users.manage' }, admin);
    expect(page.externalRedirect?.searchParams.get('error')).toBe('invalid_scope');
    expect(await shop.findApplication(clientId)).toMatchObject({ scopes: ['orders.read'] });
  });

  test('cannot use the device authorization grant', async () => {
    const clientId = shop.metadataServer.publishMetadata(createDocumentPath(), {
      grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
    });
    await shop.openAuthorization(clientId);
    const form = new URLSearchParams({ client_id: clientId, scope: 'orders.read' });
    const refused = await fetch(`${shop.mandate.origin}/oauth/device-authorization`, { method: 'POST', body: form });
    expect(refused.status).toBe(400);
  });
});

describe('the client ID metadata document', () => {
  test('is fetched once for concurrent sign-ins, and again after it has expired', async () => {
    const path = createDocumentPath();
    const clientId = shop.metadataServer.publishMetadata(path, {}, { 'cache-control': 'max-age=600' });
    const people = await Promise.all([signUp(shop.mandate.origin), signUp(shop.mandate.origin), signUp(shop.mandate.origin)]);
    await Promise.all(people.map((person) => shop.openAuthorization(clientId, {}, person)));
    await shop.openAuthorization(clientId);
    const fetches = () => shop.metadataServer.requestedPaths.filter((requested) => requested === path).length;
    expect(fetches()).toBe(1);
    shop.metadataServer.publishMetadata(path, { client_name: 'Renamed assistant' });
    expect((await shop.openAuthorization(clientId)).text).toContain('Test assistant');
    await shop.expireMetadata(clientId);
    expect((await shop.openAuthorization(clientId)).text).toContain('Renamed assistant');
    expect(fetches()).toBe(2);
    expect((await shop.readAuditEvents(clientId)).map(({ action }) => action)).toEqual(['application.updated', 'application.registered']);
  });

  test.each([
    ['max-age=60', 300],
    ['max-age=3600', 3_600],
    ['public, max-age=31536000', 86_400],
    ['no-store', 300],
    ['', 300],
  ])('with Cache-Control %j is cached for %i seconds', async (cacheControl, seconds) => {
    const clientId = shop.metadataServer.publishMetadata(createDocumentPath(), {}, { 'cache-control': cacheControl });
    await shop.openAuthorization(clientId);
    const [row] = await shop
      .forkEntityManager()
      .execute<{ left: number }[]>(
        'select extract(epoch from metadata_expires_at - now())::float8 as left from applications where client_id = ?',
        [clientId],
      );
    expect(Math.abs((row?.left ?? 0) - seconds)).toBeLessThan(20);
  });

  const json = { 'content-type': 'application/json' };
  test.each<[string, object, string]>([
    ['names another client', { client_id: 'https://assistant.example/other.json' }, 'client_id in the document is not the URL'],
    ['contains a secret', { client_secret: 'x' }, 'client_secret'],
    [
      'requires authentication with a secret',
      { token_endpoint_auth_method: 'client_secret_post' },
      'token_endpoint_auth_method must be none',
    ],
    ['requires authentication with a key', { token_endpoint_auth_method: 'private_key_jwt' }, 'token_endpoint_auth_method must be none'],
    ['lists a redirect URI with http', { redirect_uris: ['http://evil.example/'] }, 'redirect_uris'],
    ['lists a redirect URI with javascript:', { redirect_uris: ['javascript:alert(1)'] }, 'redirect_uris'],
    ['lists a redirect URI that is not a string', { redirect_uris: [1] }, 'redirect_uris.0 is not valid: '],
    ['has an empty list of redirect URIs', { redirect_uris: [] }, 'redirect_uris'],
    ['has redirect URIs that are not a list', { redirect_uris: 'http://127.0.0.1/' }, 'redirect_uris'],
    ['has a name with a line break', { client_name: 'Mandate\nadministration' }, 'client_name'],
    ['requests the client credentials grant', { grant_types: ['client_credentials'] }, 'grant_types'],
    ['does not support the code flow', { response_types: ['token'] }, 'response_types'],
  ])('is rejected when it %s', async (_defect, metadata, reason) => {
    const clientId = shop.metadataServer.publishMetadata(createDocumentPath(), metadata);
    const page = await shop.openAuthorization(clientId);
    expect([page.response.status, page.externalRedirect]).toEqual([400, undefined]);
    expect(page.text).toContain(reason);
    expect(await shop.findApplication(clientId)).toBeUndefined();
  });

  test.each(['application/json', 'Application/JSON;charset=utf-8', 'application/vnd.example+json ; profile=a'])(
    'is accepted with the content type %s',
    async (contentType) => {
      const clientId = shop.metadataServer.publishMetadata(createDocumentPath(), {}, { 'content-type': contentType });
      expect((await shop.openAuthorization(clientId)).response.status).toBe(200);
      expect(await shop.findApplication(clientId)).toBeDefined();
    },
  );

  test.each<[string, Parameters<ClientMetadataServer['serve']>[1], string]>([
    ['does not exist', (res) => res.writeHead(404, json).end('{}'), 'status 404'],
    ['is a redirect', (res) => res.writeHead(302, { location: '/elsewhere.json' }).end(), 'redirects are not followed'],
    [
      'has a content type that only begins like JSON',
      (res) => res.writeHead(200, { 'content-type': 'application/jsonx' }).end('{}'),
      'content type',
    ],
    [
      'has a content type that only ends like JSON',
      (res) => res.writeHead(200, { 'content-type': 'text/application/json' }).end('{}'),
      'content type',
    ],
    ['has no content type', (res) => res.writeHead(200).end('{}'), 'content type'],
    ['is an HTML page', (res) => res.writeHead(200, { 'content-type': 'text/html' }).end('{}'), 'content type'],
    ['is not JSON', (res) => res.writeHead(200, json).end('{'), 'not JSON'],
    ['is a JSON array', (res) => res.writeHead(200, json).end('[]'), 'the document is not valid'],
    ['is too large', (res) => res.writeHead(200, json).end(JSON.stringify({ x: 'x'.repeat(6_000) })), 'larger than 5120 bytes'],
    ['is never complete', (res) => res.writeHead(200, json).write('{'), 'could not be fetched'],
  ])('is rejected when it %s', { timeout: 30_000 }, async (_defect, handler, reason) => {
    const clientId = shop.metadataServer.serve(createDocumentPath(), handler);
    const page = await shop.openAuthorization(clientId);
    expect([page.response.status, page.externalRedirect]).toEqual([400, undefined]);
    expect(page.text).toContain(reason);
    expect(shop.metadataServer.requestedPaths).not.toContain('/elsewhere.json');
  });

  test('is rejected with a JSON error in a pushed authorization request', async () => {
    const { query } = buildAuthorizationRequest(request(shop.metadataServer.url('/missing.json')));
    const refused = await fetch(`${shop.mandate.origin}/oauth/par`, { method: 'POST', body: new URLSearchParams(query) });
    expect(await refused.json()).toMatchObject({ error: 'invalid_client', error_description: expect.stringContaining('status 404') });
  });

  test.each([
    'https://assistant.example',
    'https://assistant.example/',
    'https://assistant.example/a/../b.json',
    'https://assistant.example/a/%2e%2e/b.json',
    'https://assistant.example/b.json#fragment',
    'https://user@assistant.example/b.json',
    'https://ASSISTANT.example/b.json',
    'https://assistant.example:443/b.json',
    'https://127.0.0.1/b.json',
    'https://[::1]/b.json',
    'https://localhost/b.json',
    'https://intranet/b.json',
    'https://assistant.example:25/b.json',
    `https://assistant.example/${'x'.repeat(500)}`,
  ])('is not fetched from %s', async (clientId) => {
    const before = shop.metadataServer.requestedPaths.length;
    const page = await shop.openAuthorization(clientId);
    expect(page.response.status).toBe(400);
    expect(page.text).toContain('client ID metadata document: the URL must');
    expect(shop.metadataServer.requestedPaths).toHaveLength(before);
  });

  test('is fetched at most 30 times in 15 minutes per network, which does not affect known applications', async () => {
    const [known, person] = [shop.metadataServer.publishMetadata(createDocumentPath()), await signUp(shop.mandate.origin)];
    await shop.openAuthorization(known);
    await shop.expireMetadata(known);
    for (let n = 0; n < 30; n += 1) await shop.openAuthorization(shop.metadataServer.url(`/unknown-${n}.json`), {}, person);
    const page = await shop.openAuthorization(shop.metadataServer.publishMetadata(createDocumentPath()), {}, person);
    expect(page.text).toContain('too many documents were requested');
    expect((await shop.openAuthorization(known, {}, person)).text).toContain(clientMetadataHost);
  });
});

test('a client ID metadata document on a host with a private address is not fetched', async () => {
  const network = { ...createPublicAddressesOnlyNetworkPolicy(false), resolve: shop.metadataServer.networkPolicy.resolve };
  const server = await startMandateServer({ documentNetwork: network });
  const person = await signUp(server.origin);
  const before = shop.metadataServer.requestedPaths.length;
  const page = await person.browser.open(
    authorizationPath(buildAuthorizationRequest(request(shop.metadataServer.publishMetadata(createDocumentPath()))).query),
  );
  expect(page.text).toContain('the host has no public address');
  expect(shop.metadataServer.requestedPaths).toHaveLength(before);
  await server.close();
});
