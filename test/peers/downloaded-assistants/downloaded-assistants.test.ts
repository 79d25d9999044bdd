/**
 * Signs in at /mcp with the programs that other developers use: version 1 of the TypeScript SDK, the MCP Inspector and the Python SDK.
 * `npm run test:assistants` downloads them, so these tests do not run with the others.
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEmptyProject, installPackages } from '../../package/pack-and-install.ts';
import { startClientMetadataServer, type ClientMetadataServer } from '../../support/network/client-metadata-server.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import { createDocumentPath } from '../../support/oauth/client-metadata-fixture.ts';
import { signUp } from '../../support/oauth/oauth-flow.ts';
import { requireOneProcess } from '../../support/server/process-mode.ts';
import { startMandateServer, type JsonBody, type MandateServer } from '../../support/server/start-mandate.ts';
import { createTestShop } from '../../support/shop/test-shop.ts';
import { signInWithProgram } from './sign-in-program.ts';

requireOneProcess('its server fetches documents from loopback');

const typescriptSdk = '@modelcontextprotocol/sdk@1.32.2';
const inspector = '@modelcontextprotocol/inspector@2.12.0';
const pythonSdk = 'mcp==2.3.0';

// oxlint-disable-next-line node/no-process-env -- set by the npm script
const isEnabled = process.env['MANDATE_ASSISTANT_TESTS'] === '1';

describe.skipIf(!isEnabled)('an assistant that knows only the endpoint URL signs in', { timeout: 300_000 }, () => {
  let folder: string;
  let documents: ClientMetadataServer;
  let mandate: MandateServer;
  let productName: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mandate-assistants-'));
    documents = await startClientMetadataServer();
    mandate = await startMandateServer({ documentNetwork: documents.networkPolicy, openRegistration: true });
    productName = (await (await createTestShop(mandate)).createProduct()).name;
  });
  afterAll(async () => {
    await mandate.close();
    await documents.close();
    await rm(folder, { recursive: true, force: true });
  });

  const identifications = ['a client ID metadata document', 'dynamic client registration'] as const;
  const publishMetadata = (identification: (typeof identifications)[number], redirectUri: string): string =>
    identification === 'dynamic client registration'
      ? ''
      : documents.publishMetadata(createDocumentPath(), { redirect_uris: [redirectUri] });

  const expectedResults = () => ({
    tools: expect.arrayContaining(['products_list', 'orders_list']),
    products: expect.stringContaining(productName),
    scope: expect.not.stringContaining('orders.write'),
    order: expect.stringContaining('"status":"pending"'),
    scopeAfterStepUp: expect.stringContaining('orders.write'),
  });

  describe('with version 1 of the TypeScript SDK', () => {
    beforeAll(() => createEmptyProject(join(folder, 'typescript'), [typescriptSdk]), 300_000);

    test.each(identifications)('by %s, and asks for a missing scope', async (identification) => {
      const cwd = join(folder, 'typescript');
      const redirectUri = 'http://127.0.0.1:49152/callback';
      await cp(join(import.meta.dirname, 'typescript-sdk-1-client.mjs'), join(cwd, 'client.mjs'));
      const argv = ['client.mjs', `${mandate.origin}/mcp`, redirectUri, publishMetadata(identification, redirectUri)];
      const results: JsonBody = JSON.parse(await signInWithProgram(await signUp(mandate.origin), { command: process.execPath, argv, cwd }));
      expect(results).toEqual(expectedResults());
    });
  });

  describe('with the Inspector', () => {
    beforeAll(() => createEmptyProject(join(folder, 'inspector'), []).then((path) => installPackages(path, [inspector])), 300_000);

    test.each(identifications)('by %s', async (identification) => {
      const cwd = join(folder, 'inspector');
      const redirectUri = `http://127.0.0.1:${await findFreePort()}/oauth/callback`;
      const metadataUrl = publishMetadata(identification, redirectUri);
      const program = join(cwd, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
      const options = `--transport http --method tools/list --format json --callback-url ${redirectUri}`.split(' ');
      const argv = [program, '--cli', `${mandate.origin}/mcp`, ...options];
      if (metadataUrl !== '') argv.push('--client-metadata-url', metadataUrl);
      const storage = await mkdtemp(join(folder, 'storage-'));
      // Without a terminal, the Inspector signs in only if it can open a browser.
      const browser = { MCP_AUTO_OPEN_ENABLED: 'true', BROWSER: '/bin/true' };
      const env = { HOME: storage, MCP_STORAGE_DIR: storage, MCP_INSPECTOR_SECRET_STORE: 'file', ...browser };
      const sendCallback = (callbackUrl: URL): Promise<Response> => fetch(callbackUrl);
      const user = await signUp(mandate.origin);
      const results: JsonBody = JSON.parse(await signInWithProgram(user, { command: process.execPath, argv, cwd, env, sendCallback }));
      expect(JSON.stringify(results)).toContain('products_list');
    });
  });

  describe('with the Python SDK', () => {
    let isInstalled = false;
    beforeAll(async () => {
      const argv = ['-m', 'pip', 'install', '--quiet', '--target', join(folder, 'python'), pythonSdk];
      // The package is not in Debian, so the tests are skipped if pip cannot install it.
      isInstalled = await promisify(execFile)('python3', argv).then(
        () => true,
        () => false,
      );
    }, 300_000);

    test.for(identifications)('by %s, and asks for a missing scope', async (identification, { skip }) => {
      skip(!isInstalled, `pip cannot install ${pythonSdk}`);
      const redirectUri = 'http://127.0.0.1:49152/callback';
      const program = join(import.meta.dirname, 'python_sdk_client.py');
      const argv = [program, `${mandate.origin}/mcp`, redirectUri, publishMetadata(identification, redirectUri)];
      const env = { PYTHONPATH: join(folder, 'python'), PYTHONDONTWRITEBYTECODE: '1' };
      const user = await signUp(mandate.origin);
      const results: JsonBody = JSON.parse(await signInWithProgram(user, { command: 'python3', argv, cwd: folder, env }));
      expect(results).toEqual(expectedResults());
    });
  });
});
