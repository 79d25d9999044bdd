import { describe, expect, test } from 'vitest';
import { ensureCommandLineClient } from '../../../server/applications/command-line-client.ts';
import { createApplication, type ApplicationInput } from '../../../server/applications/create-application.ts';
import { commandLine } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/with-server.ts';

const server = useServer();

const website: ApplicationInput = {
  clientId: 'some-website',
  name: 'Some website',
  type: 'confidential',
  redirectUris: ['https://app.example/callback'],
  scopes: ['orders.read'],
  grantTypes: ['authorization_code', 'refresh_token'],
};
const create = (given: Partial<ApplicationInput>) => createApplication(server.db.em.fork(), { ...website, ...given });

describe('an application is not registered', () => {
  test.each([
    ['with plain http beyond the machine', 'http://app.example/callback'],
    ['with a wildcard', 'https://*.app.example/callback'],
    ['with a fragment', 'https://app.example/callback#x'],
    ['with a user name', 'https://user@app.example/callback'],
    ['with an address that reads in two ways', 'https://app.example/a/../callback'],
    ['with a scheme that is everybody’s', 'myapp:/callback'],
    ['with a script', 'javascript:alert(1)'],
    ['with a path alone', '/callback'],
  ])('%s: %s', async (_what, uri) => {
    await expect(create({ redirectUris: [uri] })).rejects.toThrow(uri);
  });

  test.each([
    ['that nobody can use', { grantTypes: [] }, 'needs a grant type'],
    ['that people sign in to, without an address to send them back to', { redirectUris: [] }, 'requires redirect URIs'],
    ['with more than ten addresses', { redirectUris: Array.from({ length: 11 }, (_, at) => `https://app.example/${at}`) }, 'more than 10'],
    ['that acts for itself without a secret', { type: 'public', grantTypes: ['client_credentials'], redirectUris: [] }, 'without a secret'],
    ['whose id could be taken for a person', { clientId: '4711' }, 'applications_client_id_check'],
  ] as const)('%s', async (_what, given, message) => {
    await expect(create(given)).rejects.toThrow(message);
  });
});

test.each([
  'https://app.example',
  'https://app.example/cb?x=1',
  'http://127.0.0.1/cb',
  'http://[::1]/cb',
  'http://localhost/cb',
  'com.example.app:/cb',
])('one with the address %s is', async (uri) => {
  const { application, secret } = await create({ clientId: `ok-${Buffer.from(uri).toString('hex').slice(-40)}`, redirectUris: [uri] });
  expect(application.redirectUris).toEqual([uri]);
  expect(secret).toMatch(/^ms_[\w-]{43}$/);
});

test('the command line stays stopped when an administrator stopped it, and keeps up with the scopes there are', async () => {
  const em = server.db.em.fork();
  await em.execute(`update applications set status = 'disabled', scopes = '{orders.read}' where client_id = ?`, [commandLine.clientId]);
  await ensureCommandLineClient(server.db.em); // as the next start does
  const [row] = await em.execute<{ status: string; count: number }[]>(
    'select status, cardinality(scopes) as count from applications where client_id = ?',
    [commandLine.clientId],
  );
  expect(row?.status).toBe('disabled');
  expect(row?.count).toBeGreaterThan(1);
});
