import { describe, expect, test } from 'vitest';
import { Application } from '../../../server/applications/application.entity.ts';
import { selectLinksForConsentPage } from '../../../server/applications/select-links-for-consent-page.ts';
import { authorizationPath, buildAuthorizationRequest, createWebApplication, signUp } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';

const server = useServer();
const [policyUri, tosUri] = ['https://app.example/privacy?a=1&b=2', 'https://legal.example/terms'];

/** Returns the links of the consent page for an application with these fields. */
async function readConsentLinks(fields: Partial<Pick<Application, 'policyUri' | 'tosUri' | 'registration'>>): Promise<string[][]> {
  const { clientId, redirectUri } = await createWebApplication(server.db, ['orders.read']);
  await server.db.em.fork().nativeUpdate(Application, { clientId }, fields);
  const { browser } = await signUp(server.origin);
  const request = buildAuthorizationRequest({ client_id: clientId, redirect_uri: redirectUri, scope: 'openid orders.read' });
  const { text } = await browser.open(authorizationPath(request.query));
  return [...text.matchAll(/<a href="([^"]+)" target="_blank" rel="noopener noreferrer">([^<]+)/g)].map(([, url = '', title = '']) => [
    url,
    title.replace(/ of (?!service).*/, ''),
  ]);
}

describe('the consent page', () => {
  const privacyPolicy = [policyUri.replace('&', '&amp;'), 'Privacy policy'];
  const termsOfService = [tosUri, 'Terms of service'];

  test('links to the privacy policy and the terms of an application that an administrator registered', async () => {
    expect(await readConsentLinks({ policyUri, tosUri })).toEqual([privacyPolicy, termsOfService]);
    expect(await readConsentLinks({ tosUri })).toEqual([termsOfService]);
    expect(await readConsentLinks({})).toEqual([]);
  });

  test('links only to the host of the redirect URI if no administrator registered the application (RFC 7591 section 5)', async () => {
    expect(await readConsentLinks({ policyUri, tosUri, registration: 'registration_token' })).toEqual([privacyPolicy]);
  });
});

test.each([
  ['the host of the client ID', { clientId: 'https://app.example/client.json' }, policyUri],
  ['a different port', { clientId: 'https://app.example:8443/client.json' }, undefined],
  ['the host of the redirect URI', { redirectUri: 'https://app.example/callback' }, policyUri],
  ['a subdomain of the host', { redirectUri: 'https://login.app.example/callback' }, undefined],
  ['an http redirect URI', { redirectUri: 'http://app.example/callback' }, undefined],
  ['a custom URI scheme', { redirectUri: 'com.example.app:/callback' }, undefined],
  ['the device flow', { redirectUri: undefined }, undefined],
])(
  'links of a self-registered application are compared with hosts of https URLs: %s',
  (_case, fields: { clientId?: string; redirectUri?: string | undefined }, expected) => {
    const { clientId = 'app-1', redirectUri } = fields;
    const application = { clientId, policyUri, tosUri: null, registration: 'open_registration' } as const;
    expect(selectLinksForConsentPage(application, redirectUri)).toEqual({ privacyPolicy: expected, termsOfService: undefined });
  },
);
