/** Tests the small Spring Boot application in the folder `spring-security` (`apt-get install maven default-jdk-headless`). */
import { cp } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { run } from '../../generated-clients/run-command.ts';
import { submitFormContaining } from '../../support/oauth/account-pages.ts';
import { sendDueLogoutTokens } from '../../support/oauth/logout-tokens.ts';
import { signInToWebClient, type ClientSession } from '../web-client.ts';
import { describeDownloadedClient, type DownloadedClient } from './describe-downloaded-client.ts';
import { startHttpProgram } from '../../support/server/start-http-program.ts';

const sessionSchema: z.ZodType<ClientSession> = z.object({
  sub: z.string(),
  email: z.string(),
  emailVerified: z.boolean(),
  accessToken: z.string(),
});

/** The application returns JSON, but it redirects a client to the sign-in page only if the client also accepts HTML. */
const acceptJson = { headers: { accept: 'application/json, text/html' } };

const springSecurity: DownloadedClient = {
  name: 'Spring Security 7 in Spring Boot 4.0.7',
  requirements: { mvn: 'maven (apt-get install maven)', javac: 'a JDK (apt-get install default-jdk-headless)' },
  redirectPath: '/login/oauth2/code/mandate',
  backchannelLogoutPath: '/logout/connect/back-channel/mandate',
  async install(folder) {
    await cp(join(import.meta.dirname, 'spring-security'), folder, { recursive: true });
    const copyLibraries = ['dependency:copy-dependencies', '-DincludeScope=runtime'];
    await run('mvn', ['--batch-mode', '--quiet', 'compile', ...copyLibraries], { cwd: folder, timeoutMs: 600_000 });
  },
  start: ({ folder, port, issuer, clientId, secret }) =>
    startHttpProgram({
      command: 'java',
      argv: ['-cp', [join(folder, 'target/classes'), join(folder, 'target/dependency/*')].join(delimiter), 'example.ClientApplication'],
      env: { CLIENT_PORT: String(port), ISSUER: issuer, CLIENT_ID: clientId, CLIENT_SECRET: secret },
      port,
    }),
  createWebClient: ({ origin }) => ({
    origin,
    startSignIn: (browser) => browser.open('/'),
    async readSession(browser) {
      const { externalRedirect, text } = await browser.open('/', acceptJson);
      return externalRedirect ? undefined : sessionSchema.parse(JSON.parse(text));
    },
    refresh: (browser) => browser.open('/refresh', acceptJson),
    signOut: async (browser) => submitFormContaining(browser, await browser.open('/logout'), '_csrf'),
  }),
};

describeDownloadedClient(springSecurity, (running) => {
  test('ends the session when the user signs out of the shop', async () => {
    const { server, webClient } = running();
    const { user, browser } = await signInToWebClient(server, webClient);
    await submitFormContaining(user.browser, await user.browser.open('/account'), 'action="/sign-out"');
    await sendDueLogoutTokens(server);
    expect(await webClient.readSession(browser)).toBeUndefined();
  });

  test('verifies access tokens as a resource server, as RFC 9068 requires', async () => {
    const { server, webClient } = running();
    const { user, session } = await signInToWebClient(server, webClient);
    const requestSubject = (token: string): Promise<Response> =>
      fetch(`${webClient.origin}/resources/subject`, { headers: { authorization: `Bearer ${token}` } });
    expect(await (await requestSubject(session.accessToken)).json()).toEqual({ sub: String(user.id) });
    const [header, , signature] = session.accessToken.split('.');
    const forged = Buffer.from(JSON.stringify({ sub: '1' })).toString('base64url');
    expect((await requestSubject(`${header}.${forged}.${signature}`)).status).toBe(401);
  });
});
