import { expect, test } from 'vitest';
import { createApplication } from '../../../server/applications/validate-and-create-application.ts';
import {
  sendTokenRequest,
  basicAuthorization,
  obtainClientToken,
  cliClient,
  createConfidentialClient,
  readOAuthError,
} from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();
const grant = { grant_type: 'refresh_token', refresh_token: 'x' };
const allowedOrigin = ({ headers }: Response): string | null => headers.get('access-control-allow-origin');

test('the token endpoint allows CORS only for the origins of the redirect URIs of a public application', async () => {
  await createApplication(server.db.em.fork(), {
    clientId: 'page',
    name: 'Page',
    type: 'public',
    grantTypes: ['authorization_code', 'refresh_token'],
    scopes: ['orders.read'],
    redirectUris: ['https://app.example/callback'],
  });
  const requestTokens = (origin: string) => sendTokenRequest(server.origin, { ...grant, client_id: 'page' }, { origin });
  const allowed = await requestTokens('https://app.example');
  expect(allowedOrigin(allowed)).toBe('https://app.example');
  expect(allowed.headers.get('access-control-allow-credentials')).toBeNull();
  expect(await readOAuthError(allowed)).toBe('400 invalid_grant');
  for (const origin of ['https://evil.example', 'http://app.example', 'https://app.example:444', 'null']) {
    const refused = await requestTokens(origin);
    expect([allowedOrigin(refused), await readOAuthError(refused)]).toEqual([null, '400 invalid_request']);
  }
  const otherApplication = await sendTokenRequest(
    server.origin,
    { ...grant, client_id: cliClient.clientId },
    { origin: 'https://app.example' },
  );
  expect(allowedOrigin(otherApplication)).toBeNull();
});

test('the token endpoint rejects requests of confidential applications from a browser', async () => {
  const client = await createConfidentialClient(server.db, ['orders.read']);
  expect(await obtainClientToken(server.origin, client, ['orders.read'])).toBeTypeOf('string');
  const form = { grant_type: 'client_credentials', scope: 'orders.read' };
  const refused = await sendTokenRequest(server.origin, form, {
    ...basicAuthorization(client.clientId, client.secret),
    origin: 'https://app.example',
  });
  expect([allowedOrigin(refused), await readOAuthError(refused)]).toEqual([null, '400 invalid_request']);
});
