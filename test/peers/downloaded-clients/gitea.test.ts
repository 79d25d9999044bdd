/** Tests Gitea with an OpenID Connect authentication source. The test builds Gitea with Go 1.26 or later and a C compiler. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { run } from '../../generated-clients/run-command.ts';
import { HttpBrowser } from '../../support/browser/browser.ts';
import { submitFormContaining } from '../../support/oauth/account-pages.ts';
import { completeAuthorization } from '../../support/oauth/complete-authorization.ts';
import { startHttpProgram } from '../../support/server/start-http-program.ts';
import { requestedScope, signInToWebClient } from '../web-client.ts';
import { describeDownloadedClient, type ClientSettings, type DownloadedClient } from './describe-downloaded-client.ts';

const version = '1.26.0';

/** Name of the authentication source. The redirect URI contains it. */
const source = 'mandate';

/** Downloads Gitea's Go module once, and returns the folder that contains its source code, page templates and translations. */
async function downloadModule(folder: string): Promise<string> {
  const output = await run('go', ['mod', 'download', '-json', `code.gitea.io/gitea@v${version}`], { cwd: folder });
  return z.object({ Dir: z.string() }).parse(JSON.parse(output)).Dir;
}

const createConfiguration = ({ origin, port, folder }: ClientSettings, module: string): string => `
RUN_MODE = prod
WORK_PATH = ${folder}
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = ${origin}/
STATIC_ROOT_PATH = ${module}
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = ${databaseFile(folder)}
SQLITE_TIMEOUT = 10000
[security]
INSTALL_LOCK = true
[service]
ENABLE_PASSWORD_SIGNIN_FORM = false
ENABLE_PASSKEY_AUTHENTICATION = false
[openid]
ENABLE_OPENID_SIGNIN = false
[oauth2_client]
ENABLE_AUTO_REGISTRATION = true
USERNAME = userid
# This task refreshes the expired tokens of all users.
[cron.sync_external_users]
SCHEDULE = @every 1s
`;

const databaseFile = (folder: string): string => join(folder, 'gitea.db');

/** Opens Gitea's database. Gitea shows the stored tokens neither on its pages nor in its API. */
function openDatabase(folder: string): DatabaseSync {
  return new DatabaseSync(databaseFile(folder), { timeout: 10_000 });
}

/** Adds the OpenID Connect authentication source, and enables its user synchronization, for which the command has no option. */
async function addAuthenticationSource(
  { issuer, clientId, secret, folder }: ClientSettings,
  runGitea: (words: readonly string[]) => Promise<unknown>,
): Promise<void> {
  await runGitea(['migrate']);
  const discoveryUrl = `${issuer}/.well-known/openid-configuration`;
  const client = ['--key', clientId, '--secret', secret, '--scopes', requestedScope.replaceAll(' ', ',')];
  const provider = ['--provider', 'openidConnect', '--auto-discover-url', discoveryUrl];
  await runGitea(['admin', 'auth', 'add-oauth', '--name', source, ...provider, ...client]);
  using database = openDatabase(folder);
  database.exec('update login_source set is_sync_enabled = true');
}

const loginSchema = z.object({ access_token: z.string(), raw_data: z.string() });
const claimsSchema = z.object({ email_verified: z.boolean() });

const gitea: DownloadedClient = {
  name: `Gitea ${version}`,
  requirements: { go: 'Go 1.26 or later', gcc: 'a C compiler (apt-get install gcc)', git: 'Git (apt-get install git)' },
  redirectPath: `/user/oauth2/${source}/callback`,
  signedOutPath: '/',
  omitsPkceAndNonce: true,
  async install(folder) {
    const words = ['build', '-tags', 'sqlite sqlite_unlock_notify', '-o', join(folder, 'gitea'), '.'];
    await run('go', words, { cwd: await downloadModule(folder), timeoutMs: 840_000 });
  },
  async start(settings) {
    const { folder, port } = settings;
    const [command, configuration] = [join(folder, 'gitea'), join(folder, 'app.ini')];
    const env = { HOME: folder, GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT: 'true' };
    await writeFile(configuration, createConfiguration(settings, await downloadModule(folder)));
    await addAuthenticationSource(settings, (words) => run(command, ['--config', configuration, ...words], { env }));
    return startHttpProgram({ command, argv: ['--config', configuration, 'web'], env, port });
  },
  createWebClient: ({ origin, folder }) => ({
    origin,
    startSignIn: (browser) => browser.open('/user/settings'),
    async readSession(browser) {
      const { externalRedirect, text } = await browser.open('/user/settings');
      if (externalRedirect) return undefined;
      const [, sub = ''] = /<input id="username" name="name" value="([^"]*)"/.exec(text) ?? [];
      const [, email = ''] = /<p id="signed-user-email">([^<]*)</.exec(text) ?? [];
      using database = openDatabase(folder);
      const row = database.prepare('select access_token, raw_data from external_login_user where external_id = ?').get(sub);
      const { access_token: accessToken, raw_data: claims } = loginSchema.parse(row);
      return { sub, email, emailVerified: claimsSchema.parse(JSON.parse(claims)).email_verified, accessToken };
    },
    async refresh(_browser, { sub }) {
      using database = openDatabase(folder);
      database.prepare(`update external_login_user set expires_at = '2000-01-01 00:00:00' where external_id = ?`).run(sub);
    },
    signOut: (browser) => browser.open('/user/logout'),
  }),
};

describeDownloadedClient(gitea, (running) => {
  test('disables a user who has removed the application, until the user signs in again', async () => {
    const { server, webClient } = running();
    const { user, browser, session } = await signInToWebClient(server, webClient);
    await submitFormContaining(user.browser, await user.browser.open('/account/apps'), 'name="app"');
    await webClient.refresh(browser, session);
    await expect.poll(async () => (await browser.open('/user/settings')).text).toContain('Sign-In Prohibited');

    const newBrowser = new HttpBrowser(webClient.origin);
    const { externalRedirect } = await webClient.startSignIn(newBrowser);
    await newBrowser.open((await completeAuthorization(user, String(externalRedirect))).href);
    expect(await webClient.readSession(newBrowser)).toMatchObject({ sub: session.sub });
  });
});
