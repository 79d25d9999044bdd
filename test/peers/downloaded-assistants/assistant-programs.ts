import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { createEmptyProject, installPackages } from '../../package/pack-and-install.ts';
import { assertAvailableInCi } from '../../support/assert-available-in-ci.ts';
import { findFreePort } from '../../support/network/free-port.ts';
import type { TestUser } from '../../support/oauth/oauth-flow.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { signInWithProgram } from './sign-in-program.ts';

const typescriptSdk = '@modelcontextprotocol/sdk@1.32.2';
const inspector = '@modelcontextprotocol/inspector@2.12.0';
const pythonSdk = 'mcp==2.3.0';

type SignIn = {
  /** URL of the server, which has a product with the ID 1 and the delivery method `pickup`. */
  readonly origin: string;
  readonly user: Pick<TestUser, 'browser'>;
  /** Publishes the metadata of a client and returns the document's URL. Without this function, the program registers itself. */
  readonly publishMetadata?: ((redirectUri: string) => string) | undefined;
};

/** A third-party program that knows only the URL of `/mcp` and its own metadata. */
type AssistantProgram = {
  /** Downloads the program to a new folder. Returns whether the program could be installed. */
  install(folder: string): Promise<boolean>;
  /** Signs a user in with the installed program, uses tools and returns the results. */
  signIn(folder: string, options: SignIn): Promise<JsonBody>;
  /** Returns a matcher for the results. */
  expectedResults(productName: string): unknown;
};

const sdkRedirectUri = 'http://127.0.0.1:49152/callback';

/**
 * Expected results of the clients in this folder. The clients list tools and products, request a scope to place an order, and refresh the
 * token.
 */
const expectedSdkResults = (productName: string) => ({
  tools: expect.arrayContaining(['products_list', 'orders_list']),
  products: expect.stringContaining(productName),
  scope: expect.not.stringContaining('orders.write'),
  order: expect.stringContaining('pending'),
  scopeAfterStepUp: expect.stringContaining('orders.write'),
  refreshed: true,
});

const typescriptSdk1: AssistantProgram = {
  async install(folder) {
    await createEmptyProject(folder, [typescriptSdk]);
    await cp(join(import.meta.dirname, 'typescript-sdk-1-client.mjs'), join(folder, 'client.mjs'));
    return true;
  },
  async signIn(folder, { origin, user, publishMetadata }) {
    const argv = ['client.mjs', `${origin}/mcp`, sdkRedirectUri, publishMetadata?.(sdkRedirectUri) ?? ''];
    return JSON.parse(await signInWithProgram(user, { command: process.execPath, argv, cwd: folder }));
  },
  expectedResults: expectedSdkResults,
};

const inspectorCommand: AssistantProgram = {
  async install(folder) {
    await createEmptyProject(folder, []);
    await installPackages(folder, [inspector]);
    return true;
  },
  async signIn(folder, { origin, user, publishMetadata }) {
    const redirectUri = `http://127.0.0.1:${await findFreePort()}/oauth/callback`;
    const program = join(folder, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
    const options = `--transport http --method tools/list --format json --callback-url ${redirectUri}`.split(' ');
    const argv = [program, '--cli', `${origin}/mcp`, ...options];
    if (publishMetadata !== undefined) argv.push('--client-metadata-url', publishMetadata(redirectUri));
    const storage = await mkdtemp(join(folder, 'storage-'));
    // Without a terminal, the Inspector signs in only if it can open a browser.
    const browser = { MCP_AUTO_OPEN_ENABLED: 'true', BROWSER: '/bin/true' };
    const env = { HOME: storage, MCP_STORAGE_DIR: storage, MCP_INSPECTOR_SECRET_STORE: 'file', ...browser };
    const sendCallback = (callbackUrl: URL): Promise<Response> => fetch(callbackUrl);
    return JSON.parse(await signInWithProgram(user, { command: process.execPath, argv, cwd: folder, env, sendCallback }));
  },
  expectedResults: () =>
    expect.objectContaining({
      result: expect.objectContaining({ tools: expect.arrayContaining([expect.objectContaining({ name: 'products_list' })]) }),
    }),
};

const pythonSdk2: AssistantProgram = {
  async install(folder) {
    await mkdir(folder, { recursive: true });
    const argv = ['-m', 'pip', 'install', '--quiet', '--target', join(folder, 'packages'), pythonSdk];
    // The package is not in Debian, so the tests are skipped if pip cannot install it.
    const isInstalled = await promisify(execFile)('python3', argv).then(
      () => true,
      () => false,
    );
    return assertAvailableInCi(`the Python package ${pythonSdk}`, isInstalled);
  },
  async signIn(folder, { origin, user, publishMetadata }) {
    const program = join(import.meta.dirname, 'python_sdk_client.py');
    const argv = [program, `${origin}/mcp`, sdkRedirectUri, publishMetadata?.(sdkRedirectUri) ?? ''];
    const env = { PYTHONPATH: join(folder, 'packages'), PYTHONDONTWRITEBYTECODE: '1' };
    return JSON.parse(await signInWithProgram(user, { command: 'python3', argv, cwd: folder, env }));
  },
  expectedResults: expectedSdkResults,
};

export const assistantPrograms: Readonly<Record<string, AssistantProgram>> = {
  'version 1 of the TypeScript SDK': typescriptSdk1,
  'the Inspector': inspectorCommand,
  'the Python SDK': pythonSdk2,
};
