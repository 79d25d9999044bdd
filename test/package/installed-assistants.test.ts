/** Uses the packed server with assistants and with the packed Python client, as their developers would. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { buildPythonPackage } from '../../packaging/build-python-package.ts';
import { createTokenCounter } from '../client-comparison/measure-tools.ts';
import { assistantPrograms } from '../peers/downloaded-assistants/assistant-programs.ts';
import { exercisePythonClient, expectedPythonResults, pythonClientStyles } from '../peers/python-client/exercise-python-client.ts';
import { connectAssistant, createAssistant } from '../support/mcp/assistant.ts';
import { callMcpTool } from '../support/mcp/mcp-client.ts';
import { signIn } from '../support/oauth/oauth-flow.ts';
import { hasPythonModule, python } from '../support/python.ts';
import {
  killServerProcesses,
  obtainAdministrationToken,
  readFirstRunFile,
  startServerProcess,
  type ServerProcess,
} from '../support/server/server-process.ts';
import type { JsonBody } from '../support/server/start-mandate.ts';
import { createEmptyProject, packWorkspaces } from './pack-and-install.ts';
import { commandFile, installedCommandEnvironment, signInWithInstalledCommand } from './sign-in-and-order.ts';

type FirstRun = Awaited<ReturnType<typeof readFirstRunFile>>;
type Application = FirstRun['applications']['administration'];

/** The demonstration shop's product with the ID 1. */
const firstProductName = 'Airline bag vintage Tokyo 78';
/** The product that lists show first, because it is the newest. */
const newestProductName = 'Enamel mug';
const delivery = { method: 'pickup', recipient_name: 'Ann Lee' };

describe.skipIf(process.env['MANDATE_PACKAGE_TESTS'] !== '1')('with the published server', { timeout: 180_000 }, () => {
  let directory: string;
  let project: string;
  let server: ServerProcess;
  let firstRun: FirstRun;

  /** Sends a request as the administration application. Every request has a new token, because tokens expire after five minutes. */
  const send = async (method: string, path: string, body: object): Promise<JsonBody> => {
    const token = await obtainAdministrationToken(server.url, join(project, 'data'));
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    const response = await fetch(`${server.url}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
    if (response.status !== 201) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };

  const createProduct = (overrides: Record<string, unknown>): Promise<JsonBody> =>
    send('POST', '/products', {
      sku: randomUUID(),
      name: 'Mug',
      category: 'mugs',
      price: 300,
      currency: 'GBP',
      stock: 10,
      status: 'active',
      ...overrides,
    });

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mandate-installed-assistants-'));
    const { contract, server: serverTarball, 'client-sdk': client, cli } = await packWorkspaces();
    project = await createEmptyProject(join(directory, 'project'), [contract, serverTarball, client, cli]);
    const program = join(project, 'node_modules/@mandate/server/bin/mandate-server.js');
    const location = { executable: process.execPath, directory: project };
    server = await startServerProcess({ MANDATE_OPEN_REGISTRATION: 'on' }, [program], location);
    firstRun = await readFirstRunFile(join(project, 'data'));
    await send('PUT', '/delivery-methods/pickup', { name: 'Pick up', price: 0, currency: 'GBP', requires_address: false });
    await createProduct({ name: newestProductName });
  }, 600_000);
  afterAll(async () => {
    await killServerProcesses();
    await rm(directory, { recursive: true, force: true });
  });

  const signInCustomer = async () => ({ browser: await signIn(server.url, firstRun.customer) });

  test('an assistant with the official client registers itself, and reads products and orders', async () => {
    const assistant = createAssistant({ client_name: 'Test assistant', redirect_uris: ['http://127.0.0.1:49152/callback'] });
    const client = await connectAssistant({ origin: server.url }, await signInCustomer(), assistant);
    expect(assistant.clientState.client?.client_id).toMatch(/^app-/);
    expect((await callMcpTool(client, 'products_get', { product_id: 1 })).body).toMatchObject({ name: firstProductName });
    expect(await callMcpTool(client, 'orders_list')).toMatchObject({ isError: false });
    await client.close();
  });

  describe.each(Object.entries(assistantPrograms))('an assistant with %s', (name, program) => {
    let isInstalled = false;
    beforeAll(async () => {
      isInstalled = await program.install(join(directory, name));
    }, 300_000);

    test('registers itself and uses tools', async ({ skip }) => {
      skip(!isInstalled, `${name} cannot be installed`);
      const results = await program.signIn(join(directory, name), { origin: server.url, user: await signInCustomer() });
      expect(results).toEqual(program.expectedResults(newestProductName));
    });
  });

  describe('an assistant with the published command, `mandate mcp --allow-writes`,', () => {
    let client: Client;
    let countTokens: (text: string) => number;
    beforeAll(async () => {
      await signInWithInstalledCommand(project, server.url, firstRun.customer);
      client = new Client({ name: 'test', version: '1.0.0' });
      const args = [commandFile(project), 'mcp', '--allow-writes'];
      const env = installedCommandEnvironment(project, server.url);
      await client.connect(new StdioClientTransport({ command: process.execPath, args, env, cwd: project }));
      countTokens = await createTokenCounter(join(directory, 'tokenizer'));
    }, 180_000);
    afterAll(() => client.close());

    test('places an order', async () => {
      const placed = await callMcpTool(client, 'orders_create', { items: [{ product_id: 1, quantity: 2 }], delivery });
      expect(placed).toMatchObject({ isError: false, body: { status: 'pending', total: 850, currency: 'GBP', user_id: 2 } });
      expect((await callMcpTool(client, 'orders_get', { order_id: placed.body.id })).body).toMatchObject({ id: placed.body.id });
    });

    test('is offered at most 25 tools by default, in at most 5,000 tokens', async () => {
      const { tools } = await client.listTools();
      const tokens = countTokens(JSON.stringify(tools));
      process.stdout.write(`tools: ${tools.length}, tokens of their definitions: ${tokens}\n`);
      expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['products_list', 'orders_create', 'payments_create']));
      expect(tools.length).toBeLessThanOrEqual(25);
      expect(tokens).toBeLessThanOrEqual(5_000);
    });

    test('receives a list of ten products in fewer than 600 tokens', async () => {
      const { text, body } = await callMcpTool(client, 'products_list', { limit: 10 });
      process.stdout.write(`tokens of ten products: ${countTokens(text)}\n`);
      expect(body.data).toHaveLength(10);
      expect(countTokens(text)).toBeLessThan(600);
    });
  });

  describe.skipIf(!hasPythonModule('build') || !hasPythonModule('httpx'))('the wheel of the Python client', () => {
    let packages: string;
    beforeAll(async () => {
      const { wheel } = await buildPythonPackage(join(directory, 'wheel'), packageJson.version);
      packages = join(directory, 'python-packages');
      const argv = ['-m', 'zipfile', '--extract', join(directory, 'wheel', wheel), packages];
      await promisify(execFile)(python, argv);
    }, 120_000);

    const credentials = ({ client_id: clientId, client_secret: secret }: Application) => ({ clientId, secret });

    test.each(pythonClientStyles)('signs in, places and pays orders, and iterates over events (%s)', async (style) => {
      const { administration, demonstration } = firstRun.applications;
      const user = { id: 2, ...(await signInCustomer()) };
      const shop = {
        issuer: server.url,
        url: server.url,
        application: credentials(administration),
        webApplication: { ...credentials(demonstration), redirectUri: demonstration.redirect_uris[0] ?? '' },
        user,
        createProduct,
      };
      const env = { PATH: process.env['PATH'], PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: '1' };
      expect(await exercisePythonClient(shop, style, env)).toEqual(expectedPythonResults(user));
    });
  });

  test('the server wrote no secret to its log, and stops', async () => {
    expect(await server.stop()).toBe(0);
  });
});
