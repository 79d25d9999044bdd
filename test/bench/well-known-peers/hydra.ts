import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { buildAuthorizationRequest, type TokenResponse } from '../../support/oauth/oauth-flow.ts';
import { formRequest } from '../cases/oauth-traffic.ts';
import { requestTokens } from '../servers/client-token.ts';
import { mapInBatches } from '../servers/customers.ts';
import { startMeasuredCommand } from '../servers/measured-server.ts';
import { issuer, sendThroughProxy } from '../servers/tls-proxy.ts';
import type { ComparedServer, PeerContext } from './compared-server.ts';
import { installPeer, programEnvironment, runCommand } from './install-peer.ts';
import { createPool } from './pool.ts';
import { createTokenOperations } from './token-operations.ts';

const version = '2.3.0';
const module = 'github.com/ory/hydra/v2';
/**
 * Module replacement that Hydra's own `go.mod` contains. Hydra cannot be compiled without this replacement, and Go ignores replacements in
 * the `go.mod` of a dependency.
 */
const replacement = 'github.com/gobuffalo/pop/v6=github.com/ory/pop/v6@v6.2.1-0.20241121111754-e5dfc0f3344b';

const service = { clientId: 'service', secret: randomUUID() };
const website = { clientId: 'website', secret: randomUUID(), redirectUri: 'https://app.example/callback' };
const scopes = ['openid', 'offline_access'];
const tokenPath = '/oauth2/token';
/**
 * Requests that Hydra receives when a signed-in customer signs in to an application: three from the browser, two from the login page, and
 * one from the application.
 */
const requestsPerSignIn = 6;

/** Builds Hydra as a tool of an empty Go module, because `go install` rejects modules with replacements. */
const install = (): Promise<string> =>
  installPeer('hydra', version, async (directory) => {
    await runCommand(directory, ['go', 'mod', 'init', 'benchmark-peer']);
    await runCommand(directory, ['go', 'mod', 'edit', '-replace', replacement]);
    await runCommand(directory, ['go', 'get', '-tool', `${module}@v${version}`]);
    await runCommand(directory, ['go', 'build', '-o', 'hydra', module]);
  });

/** Starts Hydra behind a proxy that terminates TLS. Hydra has no login page, so this program handles the login requests. */
export async function startComparedHydra({ createDatabase, directory, customers, opened }: PeerContext): Promise<ComparedServer> {
  const program = join(await install(), 'hydra');
  const database = await createDatabase('hydra');
  database.search = '?sslmode=disable&max_conns=10&max_idle_conns=10';
  const [publicPort, adminPort] = [await findFreePort(), await findFreePort()];
  const configuration = {
    dsn: database.href,
    log: { level: 'info', format: 'json' },
    serve: { public: { host: '127.0.0.1', port: publicPort }, admin: { host: '127.0.0.1', port: adminPort } },
    urls: { self: { issuer, public: issuer }, login: 'https://login.example/login', consent: 'https://login.example/consent' },
    secrets: { system: [randomUUID()] },
  };
  const file = join(directory, 'hydra.json');
  await writeFile(file, JSON.stringify(configuration));
  const env = { ...programEnvironment, SQA_OPT_OUT: 'true' }; // disables telemetry
  await runCommand(directory, [program, 'migrate', 'sql', 'up', '--read-from-env', '--yes'], { DSN: database.href });
  const { origin, cpuSeconds, stop } = await startMeasuredCommand(
    { command: [program, 'serve', 'all', '--config', file], env, port: publicPort, probe: '/health/ready' },
    join(directory, 'hydra.log'),
  );
  opened.defer(() => stop());
  const adminOrigin = `http://127.0.0.1:${adminPort}`;
  await createClients(adminOrigin);
  const signedIn = await mapInBatches(Array.from({ length: customers }), async (_, at) => {
    const customer = { browser: new HttpBrowser(issuer, undefined, sendThroughProxy(origin)), subject: `user${at + 1}` };
    await signIn(origin, adminOrigin, customer);
    return customer;
  });
  const tokenOperations = createTokenOperations({
    origin,
    tokenPath,
    service,
    website,
    obtainTokens: () => mapInBatches(signedIn, (customer) => signIn(origin, adminOrigin, customer)),
    introspection: {
      origin: adminOrigin,
      createRequest: (token) => formRequest('/admin/oauth2/introspect', undefined, `token=${token}`),
    },
  });
  return {
    name: 'hydra',
    version,
    database: 'hydra',
    cpuSeconds,
    operations: {
      ...tokenOperations,
      async 'authorization-code'() {
        const pool = createPool(signedIn);
        return { requests: requestsPerSignIn, perform: () => pool.use((customer) => signIn(origin, adminOrigin, customer)) };
      },
    },
  };
}

/** Sends a request to the administration API. */
async function callAdminApi(origin: string, method: 'POST' | 'PUT', path: string, body: object): Promise<unknown> {
  const init = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await sendThroughProxy(origin)(new URL(`/admin${path}`, issuer), init);
  if (!response.ok) throw new Error(`Hydra responded to ${method} ${path} with ${response.status}: ${await response.text()}`);
  return response.json();
}

async function createClients(adminOrigin: string): Promise<void> {
  const credentials = ({ clientId, secret }: typeof service) => ({ client_id: clientId, client_secret: secret });
  await callAdminApi(adminOrigin, 'POST', '/clients', { ...credentials(service), grant_types: ['client_credentials'] });
  await callAdminApi(adminOrigin, 'POST', '/clients', {
    ...credentials(website),
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    redirect_uris: [website.redirectUri],
    scope: scopes.join(' '),
  });
}

const redirectBody = z.object({ redirect_to: z.string() });

/** Signs a customer in to the website. The session and the consent are remembered, but Hydra redirects to the login page each time. */
async function signIn(
  origin: string,
  adminOrigin: string,
  { browser, subject }: { readonly browser: HttpBrowser; readonly subject: string },
): Promise<TokenResponse> {
  const { clientId, redirectUri } = website;
  const { query, verifier } = buildAuthorizationRequest({ client_id: clientId, redirect_uri: redirectUri, scope: scopes.join(' ') });
  let url = `/oauth2/auth?${new URLSearchParams(query).toString()}`;
  const accept = async (kind: 'login' | 'consent', body: object): Promise<void> => {
    const { externalRedirect, text } = await browser.open(url);
    const challenge = externalRedirect?.searchParams.get(`${kind}_challenge`);
    if (!challenge) throw new Error(`Hydra did not request a ${kind}: ${externalRedirect?.href ?? text}`);
    const path = `/oauth2/auth/requests/${kind}/accept?${kind}_challenge=${encodeURIComponent(challenge)}`;
    url = redirectBody.parse(await callAdminApi(adminOrigin, 'PUT', path, body)).redirect_to;
  };
  await accept('login', { subject, remember: true, remember_for: 0 });
  await accept('consent', { grant_scope: scopes, remember: true, remember_for: 0 });
  const { externalRedirect, text } = await browser.open(url);
  const code = externalRedirect?.searchParams.get('code');
  if (!code) throw new Error(`Hydra returned no code: ${externalRedirect?.href ?? text}`);
  const form = { grant_type: 'authorization_code', redirect_uri: redirectUri, code_verifier: verifier, code };
  return requestTokens(sendThroughProxy(origin), website, form, {}, tokenPath);
}
