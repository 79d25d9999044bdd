import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { buildAuthorizationRequest, type TokenResponse } from '../../support/oauth/oauth-flow.ts';
import { keycloakVersion } from '../../peers/keycloak/start-keycloak.ts';
import { formRequest, repeatCodeFlows } from '../cases/oauth-traffic.ts';
import { requestTokens } from '../servers/client-token.ts';
import { mapInBatches } from '../servers/customers.ts';
import { startMeasuredCommand } from '../servers/measured-server.ts';
import { issuer, proxyHeaders, sendThroughProxy } from '../servers/tls-proxy.ts';
import { customerPassword, type ComparedServer, type PeerContext } from './compared-server.ts';
import { installPeer, programEnvironment, runCommand } from './install-peer.ts';
import { createTokenOperations } from './token-operations.ts';

const service = { clientId: 'service', secret: randomUUID() };
const website = { clientId: 'website', secret: randomUUID(), redirectUri: 'https://app.example/callback' };
const endpoints = '/realms/shop/protocol/openid-connect';
const tokenPath = `${endpoints}/token`;

/** Adds the website to the `aud` claim of its tokens, because Keycloak reports a token as inactive to applications outside its audience. */
const websiteAudience = {
  name: 'audience',
  protocol: 'openid-connect',
  protocolMapper: 'oidc-audience-mapper',
  config: { 'included.client.audience': website.clientId, 'access.token.claim': 'true', 'introspection.token.claim': 'true' },
};

/** Creates a realm in which, as with our server, refresh tokens are rotated, tokens are signed with ES256, and the website uses PKCE. */
const createRealm = (customers: number) => ({
  realm: 'shop',
  enabled: true,
  defaultSignatureAlgorithm: 'ES256',
  revokeRefreshToken: true,
  refreshTokenMaxReuse: 0,
  clients: [
    { clientId: service.clientId, secret: service.secret, serviceAccountsEnabled: true, standardFlowEnabled: false },
    {
      clientId: website.clientId,
      secret: website.secret,
      redirectUris: [website.redirectUri],
      attributes: { 'pkce.code.challenge.method': 'S256' },
      protocolMappers: [websiteAudience],
    },
  ],
  users: Array.from({ length: customers }, (_, at) => ({
    username: `user${at + 1}`,
    email: `user${at + 1}@example.com`,
    emailVerified: true,
    enabled: true,
    firstName: 'User',
    lastName: String(at + 1),
    credentials: [{ type: 'password', value: customerPassword, temporary: false }],
  })),
});

/** Downloads Keycloak with Maven, and builds its optimized configuration for PostgreSQL and one node. */
const install = (): Promise<string> =>
  installPeer('keycloak', keycloakVersion, async (directory) => {
    const artifact = `org.keycloak:keycloak-quarkus-dist:${keycloakVersion}:zip`;
    const options = [`-Dartifact=${artifact}`, `-DoutputDirectory=${directory}`];
    await runCommand(directory, ['mvn', '--batch-mode', '--quiet', 'dependency:unpack', ...options]);
    await runCommand(join(directory, `keycloak-${keycloakVersion}`), ['sh', 'bin/kc.sh', 'build', '--db=postgres', '--cache=local']);
  });

/** Starts Keycloak in production mode behind a proxy that terminates TLS, with a realm that contains all customers. */
export async function startComparedKeycloak({ createDatabase, directory, customers, opened }: PeerContext): Promise<ComparedServer> {
  const home = join(await install(), `keycloak-${keycloakVersion}`);
  await mkdir(join(home, 'data/import'), { recursive: true });
  await writeFile(join(home, 'data/import/realm.json'), JSON.stringify(createRealm(customers)));
  const database = await createDatabase('keycloak');
  const port = await findFreePort();
  const listen = [
    '--http-enabled=true',
    '--http-host=127.0.0.1',
    `--http-port=${port}`,
    '--proxy-headers=xforwarded',
    `--hostname=${issuer}`,
  ];
  const login = [`--db-username=${database.username}`, `--db-password=${database.password}`];
  const url = `--db-url=jdbc:postgresql://${database.host}${database.pathname}`;
  const server = await startMeasuredCommand(
    {
      command: ['sh', 'bin/kc.sh', 'start', '--optimized', ...listen, url, ...login, '--import-realm'],
      env: programEnvironment,
      port,
      probe: '/realms/shop/.well-known/openid-configuration',
      workingDirectory: home,
      startsServerInChild: true,
      startMaxMs: 8 * 60_000,
    },
    join(directory, 'keycloak.log'),
  );
  opened.defer(() => server.stop());
  const { origin, cpuSeconds } = server;
  const browsers = await mapInBatches(Array.from({ length: customers }), (_, at) => signIn(origin, `user${at + 1}`));
  return {
    name: 'keycloak',
    version: keycloakVersion,
    database: 'keycloak',
    cpuSeconds,
    operations: {
      ...createTokenOperations({
        origin,
        tokenPath,
        service,
        website,
        obtainTokens: () => mapInBatches(browsers, (browser) => obtainTokens(origin, browser)),
        introspection: { origin, createRequest: (token) => formRequest(`${tokenPath}/introspect`, website, `token=${token}`) },
      }),
      'authorization-code': async () => ({ requests: 2, origin, expected: 'code=', traffic: repeatSignIns(browsers) }),
    },
  };
}

const authorizationRequest = () => {
  const { clientId, redirectUri } = website;
  const { query, verifier } = buildAuthorizationRequest({ client_id: clientId, redirect_uri: redirectUri, scope: 'openid' });
  const form = { grant_type: 'authorization_code', redirect_uri: redirectUri, code_verifier: verifier };
  return { path: `${endpoints}/auth?${new URLSearchParams(query).toString()}`, form };
};

/** Signs a customer in with a password, in a new browser. */
async function signIn(origin: string, username: string): Promise<HttpBrowser> {
  const browser = new HttpBrowser(issuer, undefined, sendThroughProxy(origin));
  const page = await browser.open(authorizationRequest().path);
  const [, action = ''] = /<form id="kc-form-login"[^>]*\saction="([^"]*)"/.exec(page.text) ?? [];
  const body = new URLSearchParams({ username, password: customerPassword, credentialId: '' });
  const { externalRedirect, text } = await browser.open(action.replaceAll('&amp;', '&'), { method: 'POST', body });
  if (!externalRedirect?.searchParams.has('code')) throw new Error(`Keycloak did not sign ${username} in: ${text}`);
  return browser;
}

async function obtainTokens(origin: string, browser: HttpBrowser): Promise<TokenResponse> {
  const { path, form } = authorizationRequest();
  const code = (await browser.open(path)).externalRedirect?.searchParams.get('code') ?? '';
  return requestTokens(sendThroughProxy(origin), website, { ...form, code }, {}, tokenPath);
}

/** Repeated authorization requests from signed-in customers, each followed by a token request. With this realm, no consent is required. */
function repeatSignIns(browsers: readonly HttpBrowser[]): ReturnType<typeof repeatCodeFlows> {
  const { path, form } = authorizationRequest();
  const first = browsers.map((browser) => ({ path, headers: { ...proxyHeaders, cookie: browser.cookieHeader(`${endpoints}/auth`) } }));
  return repeatCodeFlows(first, (code) => formRequest(tokenPath, website, `${new URLSearchParams(form).toString()}&code=${code}`));
}
