/** Tests oauth2-proxy, which protects a website. The test builds oauth2-proxy with Go 1.26 or later. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { run } from '../../generated-clients/run-command.ts';
import { requestedScope } from '../web-client.ts';
import { describeDownloadedClient, type ClientSettings } from './describe-downloaded-client.ts';
import { readEchoedHeaders } from './echo-server.ts';
import { startHttpProgram } from '../../support/server/start-http-program.ts';

const version = 'v7.15.6';

const createEnvironment = ({ issuer, clientId, secret, redirectUri, port, upstream }: ClientSettings): Record<string, string> => ({
  OAUTH2_PROXY_PROVIDER: 'oidc',
  OAUTH2_PROXY_OIDC_ISSUER_URL: issuer,
  OAUTH2_PROXY_CLIENT_ID: clientId,
  OAUTH2_PROXY_CLIENT_SECRET: secret,
  OAUTH2_PROXY_REDIRECT_URL: redirectUri,
  OAUTH2_PROXY_SCOPE: requestedScope,
  OAUTH2_PROXY_CODE_CHALLENGE_METHOD: 'S256',
  OAUTH2_PROXY_HTTP_ADDRESS: `127.0.0.1:${port}`,
  OAUTH2_PROXY_UPSTREAMS: upstream,
  OAUTH2_PROXY_EMAIL_DOMAINS: '*',
  OAUTH2_PROXY_COOKIE_SECRET: randomBytes(16).toString('hex'),
  OAUTH2_PROXY_COOKIE_SECURE: 'false',
  // Time after which the next request makes the proxy refresh the tokens.
  OAUTH2_PROXY_COOKIE_REFRESH: '1s',
  OAUTH2_PROXY_PASS_ACCESS_TOKEN: 'true',
  OAUTH2_PROXY_SKIP_PROVIDER_BUTTON: 'true',
  // Sites to which the proxy may redirect after a sign-out.
  OAUTH2_PROXY_WHITELIST_DOMAINS: new URL(issuer).host,
});

describeDownloadedClient({
  name: `oauth2-proxy ${version}`,
  requirements: { go: 'Go 1.26 or later' },
  redirectPath: '/oauth2/callback',
  install: (folder) =>
    run('go', ['install', `github.com/oauth2-proxy/oauth2-proxy/v7@${version}`], { env: { GOBIN: folder }, timeoutMs: 840_000 }),
  start: (settings) =>
    startHttpProgram({ command: join(settings.folder, 'oauth2-proxy'), argv: [], env: createEnvironment(settings), port: settings.port }),
  createWebClient: ({ origin, issuer, clientId, signedOutUri }) => ({
    origin,
    async readSession(browser) {
      const headers = await readEchoedHeaders(browser);
      return (
        headers && {
          sub: String(headers['x-forwarded-user']),
          email: String(headers['x-forwarded-email']),
          emailVerified: true, // oauth2-proxy rejects users whose address is not verified
          accessToken: String(headers['x-forwarded-access-token']),
        }
      );
    },
    startSignIn: (browser) => browser.open('/'),
    refresh: async () => undefined, // oauth2-proxy refreshes the tokens itself
    signOut(browser) {
      const signOut = new URLSearchParams({ client_id: clientId, post_logout_redirect_uri: signedOutUri });
      return browser.open(`/oauth2/sign_out?${new URLSearchParams({ rd: `${issuer}/oauth/logout?${signOut.toString()}` }).toString()}`);
    },
  }),
});
