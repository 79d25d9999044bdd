import { expect, test } from 'vitest';
import { createApplication } from '../../../server/applications/create-application.ts';
import { askForTokens, basic, clientCredentials, commandLine, confidentialClient, refusal } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/with-server.ts';

const server = useServer();
const grant = { grant_type: 'refresh_token', refresh_token: 'x' };
const readableBy = ({ headers }: Response): string | null => headers.get('access-control-allow-origin');

test('a page asks for tokens from the origins its application’s redirects lead to, and from no other', async () => {
  await createApplication(server.db.em.fork(), {
    clientId: 'page',
    name: 'Page',
    type: 'public',
    grantTypes: ['authorization_code', 'refresh_token'],
    scopes: ['orders.read'],
    redirectUris: ['https://app.example/callback'],
  });
  const ask = (origin: string) => askForTokens(server.origin, { ...grant, client_id: 'page' }, { origin });
  const own = await ask('https://app.example');
  expect(readableBy(own)).toBe('https://app.example');
  expect(own.headers.get('access-control-allow-credentials')).toBeNull();
  expect(await refusal(own)).toBe('400 invalid_grant');
  for (const origin of ['https://evil.example', 'http://app.example', 'https://app.example:444', 'null']) {
    const refused = await ask(origin);
    expect([readableBy(refused), await refusal(refused)]).toEqual([null, '400 invalid_request']);
  }
  const elsewhere = await askForTokens(server.origin, { ...grant, client_id: commandLine.clientId }, { origin: 'https://app.example' });
  expect(readableBy(elsewhere)).toBeNull();
});

test('an application with a secret gets nothing from a page', async () => {
  const client = await confidentialClient(server.db, ['orders.read']);
  expect(await clientCredentials(server.origin, client, ['orders.read'])).toBeTypeOf('string');
  const form = { grant_type: 'client_credentials', scope: 'orders.read' };
  const refused = await askForTokens(server.origin, form, { ...basic(client.clientId, client.secret), origin: 'https://app.example' });
  expect([readableBy(refused), await refusal(refused)]).toEqual([null, '400 invalid_request']);
});
