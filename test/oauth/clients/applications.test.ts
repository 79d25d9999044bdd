import { describe, expect, test } from 'vitest';
import { ensureCommandLineClient } from '../../../server/applications/ensure-command-line-client.ts';
import { createApplication, type ApplicationInput } from '../../../server/applications/validate-and-create-application.ts';
import { cliClient } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();

const websiteInput: ApplicationInput = {
  clientId: 'some-website',
  name: 'Some website',
  type: 'confidential',
  redirectUris: ['https://app.example/callback'],
  scopes: ['orders.read'],
  grantTypes: ['authorization_code', 'refresh_token'],
};
const create = (overrides: Partial<ApplicationInput>) => createApplication(server.db.em.fork(), { ...websiteInput, ...overrides });

describe('the server rejects an application', () => {
  test.each([
    ['with HTTP outside the loopback interface', 'http://app.example/callback'],
    ['with a wildcard', 'https://*.app.example/callback'],
    ['with a fragment', 'https://app.example/callback#x'],
    ['with a user name', 'https://user@app.example/callback'],
    ['with a path that is not normalized', 'https://app.example/a/../callback'],
    ['with a custom scheme without a domain name', 'myapp:/callback'],
    ['with the javascript: scheme', 'javascript:alert(1)'],
    ['with only a path', '/callback'],
  ])('%s: %s', async (_case, uri) => {
    await expect(create({ redirectUris: [uri] })).rejects.toThrow(uri);
  });

  test.each([
    ['without grant types', { grantTypes: [] }, 'must contain a grant type'],
    ['with sign-in but without redirect URIs', { redirectUris: [] }, 'must contain a URI'],
    [
      'with more than ten redirect URIs',
      { redirectUris: Array.from({ length: 11 }, (_, at) => `https://app.example/${at}`) },
      'more than 10',
    ],
    [
      'with client credentials but without a secret',
      { type: 'public', grantTypes: ['client_credentials'], redirectUris: [] },
      'must not contain client_credentials',
    ],
    ['with a client ID that looks like a user ID', { clientId: '4711' }, 'applications_client_id_check'],
  ] as const)('%s', async (_case, overrides, message) => {
    await expect(create(overrides)).rejects.toThrow(message);
  });
});

test.each([
  'https://app.example',
  'https://app.example/cb?x=1',
  'http://127.0.0.1/cb',
  'http://[::1]/cb',
  'http://localhost/cb',
  'com.example.app:/cb',
])('the server registers an application with the redirect URI %s', async (uri) => {
  const { application, secret } = await create({ clientId: `ok-${Buffer.from(uri).toString('hex').slice(-40)}`, redirectUris: [uri] });
  expect(application.redirectUris).toEqual([uri]);
  expect(secret).toMatch(/^ms_[\w-]{43}$/);
});

test('a server start updates the scopes of a disabled command line and keeps it disabled', async () => {
  const em = server.db.em.fork();
  await em.execute(`update applications set status = 'disabled', scopes = '{orders.read}' where client_id = ?`, [cliClient.clientId]);
  await ensureCommandLineClient(server.db.em); // the server calls this function at every start
  const [row] = await em.execute<{ status: string; count: number }[]>(
    'select status, cardinality(scopes) as count from applications where client_id = ?',
    [cliClient.clientId],
  );
  expect(row?.status).toBe('disabled');
  expect(row?.count).toBeGreaterThan(1);
});
