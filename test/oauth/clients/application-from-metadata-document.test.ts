import { expect, test } from 'vitest';
import { scopesOfSelfRegisteredApplications } from '../../../server/applications/validate-and-create-application.ts';
import { applicationFromMetadataDocument } from '../../../server/oauth/clients/application-from-metadata-document.ts';

const clientId = 'https://assistant.example/client.json';
const now = new Date('2030-01-01T12:00:00Z');
const convert = (metadata: object) =>
  applicationFromMetadataDocument(
    clientId,
    {
      statusCode: 200,
      headers: { 'content-type': 'application/json', 'cache-control': 'max-age=600' },
      text: JSON.stringify({ client_id: clientId, redirect_uris: ['https://assistant.example/callback'], ...metadata }),
    },
    now,
  );

test('a document with only the required members describes a public application with the defaults', () => {
  expect(convert({})).toEqual({
    clientId,
    name: 'assistant.example',
    type: 'public',
    policyUri: null,
    tosUri: null,
    redirectUris: ['https://assistant.example/callback'],
    postLogoutRedirectUris: [],
    scopes: scopesOfSelfRegisteredApplications,
    grantTypes: ['authorization_code'],
    registration: 'metadata_document',
    metadataExpiresAt: new Date('2030-01-01T12:10:00Z'),
  });
});

test('the members of a document are used, except grant types and scopes that such applications may not use', () => {
  const metadata = {
    client_name: 'Assistant',
    redirect_uris: ['http://127.0.0.1/a', 'http://127.0.0.1/b'],
    post_logout_redirect_uris: ['https://assistant.example/bye'],
    token_endpoint_auth_method: 'none',
    grant_types: ['refresh_token', 'client_credentials', 'authorization_code', 'urn:ietf:params:oauth:grant-type:device_code', 'implicit'],
    response_types: ['token', 'code'],
    scope: 'openid users.manage orders.write orders.read unknown',
    logo_uri: 'https://assistant.example/logo.png',
    policy_uri: 'https://assistant.example/privacy',
    tos_uri: 'javascript:alert(1)',
  };
  const application = convert(metadata);
  expect(application).toMatchObject({
    name: 'Assistant',
    policyUri: metadata.policy_uri,
    tosUri: null,
    redirectUris: metadata.redirect_uris,
    postLogoutRedirectUris: ['https://assistant.example/bye'],
    grantTypes: ['authorization_code', 'refresh_token'],
  });
  expect(application.scopes.toSorted()).toEqual(['orders.read', 'orders.write']);
});

test.each<[object, string]>([
  [{ client_id: `${clientId}?` }, 'client_id in the document is not the URL of the document'],
  [{ client_id: undefined }, 'client_id is not valid: Required'],
  [{ redirect_uris: undefined }, 'redirect_uris is not valid: Required'],
  [{ client_name: 7 }, 'client_name is not valid'],
  [{ post_logout_redirect_uris: ['http://other.example/'] }, 'post_logout_redirect_uris http://other.example/ '],
  [{ token_endpoint_auth_method: 'client_secret_basic' }, 'token_endpoint_auth_method must be none'],
  [{ response_types: [] }, 'response_types must contain code'],
  [{ client_secret: '' }, 'client_secret is not valid: must not be in a public document'],
])('a document with %j is not used', (metadata, reason) => {
  expect(() => convert(metadata)).toThrow(reason);
});
