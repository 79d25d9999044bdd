import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { listenOnLoopback } from '../../support/network/loopback-server.ts';
import {
  basicAuthorization,
  obtainAuthorizationCode,
  sendTokenRequest,
  tokenResponseSchema,
  type ClientCredentials,
  type TestUser,
} from '../../support/oauth/oauth-flow.ts';
import { python } from '../../support/python.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';

type ExercisedShop = {
  readonly issuer: string;
  /** URL for API requests. */
  readonly url: string;
  /** Application that uses the client credentials grant. */
  readonly application: ClientCredentials;
  /** Web application to which the user signs in. */
  readonly webApplication: ClientCredentials & { readonly redirectUri: string };
  readonly user: Pick<TestUser, 'id' | 'browser'>;
  /** Creates a product in the currency of the delivery method `pickup`. */
  createProduct(overrides: Record<string, unknown>): Promise<JsonBody>;
};

export const pythonClientStyles = ['sync', 'async'] as const;
type Style = (typeof pythonClientStyles)[number];

/** Runs `exercise_client.py`, and returns its results. */
export async function exercisePythonClient(shop: ExercisedShop, style: Style, env: NodeJS.ProcessEnv): Promise<JsonBody> {
  const category = `mugs-${style}`;
  for (let n = 1; n <= 5; n += 1) await shop.createProduct({ name: `Mug ${n}`, category, stock: 50 });
  const product = await shop.createProduct({ price: 250, stock: 50 });
  const silentServer = createServer();
  const given = {
    issuer: shop.issuer,
    url: shop.url,
    silentUrl: `http://127.0.0.1:${await listenOnLoopback(silentServer)}`,
    clientId: shop.application.clientId,
    clientSecret: shop.application.secret,
    category,
    productId: product.id,
    userId: shop.user.id,
    webClientId: shop.webApplication.clientId,
    webClientSecret: shop.webApplication.secret,
    refreshToken: await obtainRefreshToken(shop),
  };
  const program = join(import.meta.dirname, 'exercise_client.py');
  const { stdout } = await promisify(execFile)(python, [program, JSON.stringify(given), style], { env });
  silentServer.close();
  return JSON.parse(stdout);
}

/** Signs the user in to the web application, and returns the refresh token. */
async function obtainRefreshToken({ issuer, webApplication, user }: ExercisedShop): Promise<string | undefined> {
  const { clientId, secret, redirectUri } = webApplication;
  const request = { client_id: clientId, redirect_uri: redirectUri, scope: 'openid offline_access users.read', prompt: 'consent' };
  const { code, verifier } = await obtainAuthorizationCode(issuer, user, request);
  const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri };
  const response = await sendTokenRequest(issuer, form, basicAuthorization(clientId, secret));
  return tokenResponseSchema.parse(await response.json()).refresh_token;
}

export const expectedPythonResults = (user: Pick<TestUser, 'id'>) => ({
  order: expect.any(Number),
  names: ['Mug 1', 'Mug 2', 'Mug 3', 'Mug 4', 'Mug 5'],
  pages: 3,
  total: 500,
  note: 'by the gate',
  paid: 'succeeded',
  refused: { code: 'out_of_stock', status: 409, detail: expect.any(String), available: [48], request_id: true },
  preview: 250,
  events: ['order.created', 'order.updated', ['order.paid', 500]],
  errors: ['invalid_client', 'timeout', 'invalid_grant'],
  users: [user.id],
  refreshes: 1,
});
