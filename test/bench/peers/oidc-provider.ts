/**
 * Serves oidc-provider with in-memory storage, as in the library's guide. This server persists nothing and sends no database queries. This
 * server supports the same signing algorithms and types of applications as our server.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair } from 'jose';
import { Provider, type ClientMetadata } from 'oidc-provider';
import { z } from 'zod';
import { UnlimitedMemoryAdapter } from './unlimited-memory-adapter.ts';

const settings = z
  .object({ PORT: z.coerce.number(), ISSUER: z.string(), CLIENTS: z.string(), SCOPE: z.string() })
  // oxlint-disable-next-line node/no-process-env -- this process receives its settings through the environment
  .parse(process.env);

const api = `${settings.ISSUER}/api`;

const newKey = async (alg: string): Promise<object> => {
  const { privateKey } = await generateKeyPair(alg, { extractable: true, modulusLength: 2048 });
  return { ...(await exportJWK(privateKey)), alg, use: 'sig', kid: alg };
};

const provider = new Provider(settings.ISSUER, {
  adapter: UnlimitedMemoryAdapter,
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the benchmark wrote this value
  clients: JSON.parse(settings.CLIENTS) as ClientMetadata[],
  jwks: { keys: await Promise.all(['ES256', 'RS256'].map((alg) => newKey(alg))) },
  cookies: { keys: [randomUUID()] },
  routes: { authorization: '/oauth/authorize', token: '/oauth/token', jwks: '/oauth/jwks' },
  scopes: ['openid', settings.SCOPE],
  findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
  rotateRefreshToken: true,
  issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => api,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: settings.SCOPE,
        audience: api,
        accessTokenFormat: 'jwt',
        accessTokenTTL: 300,
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
});
provider.proxy = true;

/** Signs in as a new user and grants consent without displaying a page. */
async function finishInteraction(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { params, prompt, session } = await provider.interactionDetails(req, res);
  if (prompt.name === 'login') return provider.interactionFinished(req, res, { login: { accountId: randomUUID() } });
  const grant = new provider.Grant({ accountId: session?.accountId, clientId: String(params['client_id']) });
  grant.addOIDCScope(`openid ${settings.SCOPE}`);
  grant.addResourceScope(api, settings.SCOPE);
  return provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
}

const handleProviderRequest = provider.callback();
createServer(
  (req, res) => void (req.url?.startsWith('/interaction/') ? finishInteraction(req, res) : handleProviderRequest(req, res)),
).listen(settings.PORT, '127.0.0.1');
