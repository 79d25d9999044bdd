/** Tests JupyterHub with the generic authenticator of oauthenticator, in a virtual environment with Python 3.10 or later. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { createVirtualEnvironment } from '../../generated-clients/python-environment.ts';
import { createEmptyProject } from '../../package/pack-and-install.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { startHttpProgram } from '../../support/server/start-http-program.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { requestedScope } from '../web-client.ts';
import { describeDownloadedClient, type ClientSettings, type DownloadedClient } from './describe-downloaded-client.ts';

const version = '6.1.1';
const packages = [`jupyterhub==${version}`, 'oauthenticator==17.4.0'];
const proxy = 'configurable-http-proxy@5.3.0';

/** Returns the folder with the programs of the virtual environment. The virtual environment is created only once. */
const installHub = (): Promise<string> => createVirtualEnvironment(`jupyterhub-${version}`, packages);

const tokenState = z
  .object({
    access_token: z.string(),
    token_response: z.object({ access_token: z.string() }).passthrough(),
    oauth_user: z.object({ sub: z.string(), email: z.string(), email_verified: z.boolean() }).passthrough(),
  })
  .passthrough();
const userSchema = z.object({ name: z.string(), auth_state: tokenState });

/** Token with which the test calls the hub's API. */
const apiToken = randomBytes(32).toString('hex');

/** Calls the hub's API, which returns a user's stored tokens. */
const callHub = async ({ origin }: Pick<ClientSettings, 'origin'>, path: string, change?: object): Promise<unknown> => {
  const body = change && JSON.stringify(change);
  const headers = { authorization: `token ${apiToken}` };
  const response = await fetch(`${origin}/hub/api${path}`, { headers, ...(body !== undefined && { method: 'PATCH', body }) });
  return response.json();
};

/** Returns the hub's only user. */
async function readUser(settings: Pick<ClientSettings, 'origin'>): Promise<z.output<typeof userSchema>> {
  const [user] = z.tuple([z.object({ name: z.string() })]).parse(await callHub(settings, '/users'));
  return userSchema.parse(await callHub(settings, `/users/${user.name}`));
}

const createEnvironment = async (settings: ClientSettings): Promise<Record<string, string>> => {
  const { issuer, clientId, secret, redirectUri, signedOutUri, port, folder } = settings;
  const signOut = new URLSearchParams({ client_id: clientId, post_logout_redirect_uri: signedOutUri });
  return {
    ISSUER: issuer,
    CLIENT_ID: clientId,
    CLIENT_SECRET: secret,
    REDIRECT_URI: redirectUri,
    SIGN_OUT_URL: `${issuer}/oauth/logout?${signOut.toString()}`,
    SCOPE: requestedScope,
    FOLDER: folder,
    NODE: process.execPath,
    CLIENT_PORT: String(port),
    HUB_PORT: String(await findFreePort()),
    PROXY_API_PORT: String(await findFreePort()),
    API_TOKEN: apiToken,
    JUPYTERHUB_CRYPT_KEY: randomBytes(32).toString('hex'),
  };
};

const jupyterHub: DownloadedClient = {
  name: `JupyterHub ${version}`,
  requirements: { python3: 'Python 3.10 or later (apt-get install python3-venv)' },
  redirectPath: '/hub/oauth_callback',
  async install(folder) {
    await installHub();
    await createEmptyProject(folder, [proxy]);
  },
  async start(settings) {
    const argv = ['-m', 'jupyterhub', '--config', join(import.meta.dirname, 'jupyterhub/jupyterhub_config.py')];
    const command = join(await installHub(), 'python');
    const program = await startHttpProgram({ command, argv, env: await createEnvironment(settings), port: settings.port });
    await waitUntil(async () => (await fetch(`${settings.origin}/hub/health`)).ok);
    return program;
  },
  createWebClient: (settings) => ({
    origin: settings.origin,
    startSignIn: (browser) => browser.open('/hub/home'),
    async readSession(browser) {
      if ((await browser.open('/hub/home')).externalRedirect) return undefined;
      const { access_token: accessToken, oauth_user: user } = (await readUser(settings)).auth_state;
      return { sub: user.sub, email: user.email, emailVerified: user.email_verified, accessToken };
    },
    async refresh() {
      const { name, auth_state: state } = await readUser(settings);
      // The hub refreshes its tokens when userinfo rejects the access token.
      const expired = { ...state, token_response: { ...state.token_response, access_token: 'expired' } };
      await callHub(settings, `/users/${name}`, { auth_state: expired });
    },
    signOut: (browser) => browser.open('/hub/logout'),
  }),
};

describeDownloadedClient(jupyterHub);
