/** Tests Apache with mod_auth_openidc, which protects a website (`apt-get install apache2 libapache2-mod-auth-openidc`). */
import { randomUUID } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeDownloadedClient, type ClientSettings } from './describe-downloaded-client.ts';
import { readEchoedHeaders } from './echo-server.ts';
import { startHttpProgram } from '../../support/server/start-http-program.ts';
import { requestedScope } from '../web-client.ts';

const modules = '/usr/lib/apache2/modules';
const moduleNames = ['mpm_event', 'authn_core', 'authz_core', 'authz_user', 'proxy', 'proxy_http', 'headers', 'auth_openidc'];

const createConfiguration = ({ issuer, clientId, secret, redirectUri, folder, port, upstream }: ClientSettings): string => `
ServerName localhost
ServerRoot "${folder}"
DefaultRuntimeDir "${folder}"
PidFile "${folder}/apache.pid"
ErrorLog "${folder}/error.log"
Listen 127.0.0.1:${port}
${moduleNames.map((name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`).join('\n')}
${process.getuid?.() === 0 ? 'User www-data\nGroup www-data' : ''}
# The function fetch of Node.js sets this header to cors, unlike a browser that opens a page.
RequestHeader unset Sec-Fetch-Mode early
OIDCProviderMetadataURL ${issuer}/.well-known/openid-configuration
OIDCClientID ${clientId}
OIDCClientSecret ${secret}
OIDCRedirectURI ${redirectUri}
OIDCCryptoPassphrase ${randomUUID()}
OIDCScope "${requestedScope}"
OIDCPKCEMethod S256
OIDCRemoteUserClaim sub
OIDCPassClaimsAs headers
ProxyPass / ${upstream}/
<Location />
  AuthType openid-connect
  Require valid-user
</Location>
`;

describeDownloadedClient({
  name: 'mod_auth_openidc of Debian',
  requirements: {
    '/usr/sbin/apache2': 'apache2 (apt-get install apache2)',
    [`${modules}/mod_auth_openidc.so`]: 'mod_auth_openidc (apt-get install libapache2-mod-auth-openidc)',
  },
  redirectPath: '/callback',
  async start(settings) {
    const { folder, port } = settings;
    await chmod(folder, 0o755); // Apache's processes run as a different user
    await writeFile(join(folder, 'apache.conf'), createConfiguration(settings));
    return startHttpProgram({ command: '/usr/sbin/apache2', argv: ['-f', join(folder, 'apache.conf'), '-DFOREGROUND'], port });
  },
  createWebClient: ({ origin, signedOutUri }) => ({
    origin,
    startSignIn: (browser) => browser.open('/'),
    async readSession(browser) {
      const headers = await readEchoedHeaders(browser);
      return (
        headers && {
          sub: String(headers['oidc_claim_sub']),
          email: String(headers['oidc_claim_email']),
          emailVerified: headers['oidc_claim_email_verified'] === '1',
          accessToken: String(headers['oidc_access_token']),
        }
      );
    },
    refresh: (browser, { accessToken }) =>
      browser.open(`/callback?${new URLSearchParams({ refresh: `${origin}/`, access_token: accessToken }).toString()}`),
    signOut: (browser) => browser.open(`/callback?${new URLSearchParams({ logout: signedOutUri }).toString()}`),
  }),
});
