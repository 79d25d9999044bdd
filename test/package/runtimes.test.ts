import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build, type BuildOptions } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { scopeNames } from '@mandate/contract';
import { hasChromium, launchChromium } from '../support/browser/chromium.ts';
import { createConfidentialClient, obtainClientToken } from '../support/oauth/oauth-flow.ts';
import { withShop } from '../support/shop/with-shop.ts';
import { startEventJobs } from '../support/webhooks/event-jobs.ts';
import { packWorkspaces } from './pack-and-install.ts';
import type { RuntimeInput } from './runtime-input.ts';

const run = promisify(execFile);
const arm = process.arch === 'arm64';

/**
 * Packages that contain the runtimes. The install scripts of these packages are not run, because the platform packages contain the
 * programs.
 */
const runtimePackages = {
  'node-20': `npm:node-linux-${process.arch}@20.20.2`,
  'node-22': `npm:node-linux-${process.arch}@22.23.3`,
  'node-24': `npm:node-linux-${process.arch}@24.21.0`,
  deno: `npm:@deno/linux-${process.arch}-glibc@2.9.6`,
  bun: arm ? 'npm:@oven/bun-linux-aarch64@1.4.5' : 'npm:@oven/bun-linux-x64-baseline@1.4.5',
  miniflare: '4.20260730.0',
  'edge-runtime': '4.0.1',
};

const expected = {
  order: 'pending',
  orders: true,
  unchanged: true,
  import: 'queued',
  missing: 'not_found',
  redirected: 'invalid_response',
  late: 'timeout',
  aborted: 'aborted',
  event: 'order.created',
  webhook: 'order.paid',
  query: 'mandate/orders/get/7',
  v2: 'function',
  signedInWithoutBrowser: false,
  serverSignIn: 'redirects, no session',
  clientAssertion: ['client_id', 'client_assertion_type', 'client_assertion'],
};

describe.skipIf(process.env['MANDATE_PACKAGE_TESTS'] !== '1' || process.platform !== 'linux')(
  'the published client in',
  { timeout: 120_000 },
  () => {
    const shop = withShop();
    const servers: Server[] = [];
    let directory: string;
    let input: RuntimeInput;
    let stopEventJobs: (() => Promise<void>) | undefined;

    const listen = async (listener: RequestListener): Promise<string> => {
      const server = createServer(listener).listen(0, '127.0.0.1');
      servers.push(server);
      await once(server, 'listening');
      const address = server.address();
      return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    };

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'mandate-runtimes-'));
      const { 'client-sdk': tarball } = await packWorkspaces();
      await run('npm', ['init', '--yes'], { cwd: directory });
      const packages = Object.entries(runtimePackages).map(([name, source]) => `${name}@${source}`);
      await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', tarball, ...packages], { cwd: directory });
      await writeFile(join(directory, 'main.mjs'), mainModule);
      await cp(join(import.meta.dirname, 'runtime-program.ts'), join(directory, 'runtime-program.ts'));
      await transpile({ format: 'esm', outfile: join(directory, 'runtime-program.mjs') });
      await transpile({ format: 'cjs', outfile: join(directory, 'runtime-program.cjs') });

      const { clientId, secret: clientSecret } = await createConfidentialClient(shop.db, scopeNames);
      const [product, user] = [await shop.createProduct(), await shop.createUser()];
      stopEventJobs = startEventJobs(shop.db);
      await shop.placeOrder();
      input = {
        apiUrl: shop.origin,
        clientId,
        clientSecret,
        userId: user.id,
        productId: product.id,
        redirectingUrl: await listen((_, res) => res.writeHead(307, { location: shop.origin, 'access-control-allow-origin': '*' }).end()),
        silentUrl: await listen(() => undefined),
      };
    }, 300_000);
    afterAll(async () => {
      await stopEventJobs?.();
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
      await rm(directory, { recursive: true, force: true });
    });

    const transpile = (options: BuildOptions) => build({ entryPoints: [join(directory, 'runtime-program.ts')], ...options });
    /** Bundles the program for runtimes without `node_modules`. */
    const bundle = async (options: BuildOptions): Promise<string> => {
      const bundleOptions = { bundle: true, write: false, platform: 'neutral', target: 'es2022', ...options } as const;
      const result = await build({ entryPoints: [join(directory, 'runtime-program.ts')], ...bundleOptions });
      return result.outputFiles?.[0]?.text ?? '';
    };
    const runProgram = async (command: string, args: readonly string[]): Promise<unknown> => {
      const env = { PATH: process.env['PATH'], HOME: directory, DENO_NO_UPDATE_CHECK: '1', RUNTIME_INPUT: JSON.stringify(input) };
      const { stdout } = await run(join(directory, command), args, { cwd: directory, env });
      return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    };

    test.each(['20', '22', '24'])('Node %s, as ESM and CommonJS, whose errors recognize each other', async (version) => {
      const node = `node_modules/node-${version}/bin/node`;
      expect(await runProgram(node, ['main.mjs'])).toEqual(expected);
      await writeFile(
        join(directory, 'main.cjs'),
        mainModule.replace(/import .*/, "const { runClient } = require('./runtime-program.cjs');"),
      );
      expect(await runProgram(node, ['main.cjs'])).toEqual(expected);
      await writeFile(join(directory, 'both.mjs'), bothFormats);
      expect(await runProgram(node, ['both.mjs'])).toEqual({
        copies: 2,
        MandateError: true,
        SignInRequiredError: true,
        ApiError: false,
        WebhookVerificationError: true,
      });
    });

    test('Deno', async () => {
      const flags = ['--allow-net', '--allow-env', '--allow-read', '--node-modules-dir=manual', '--no-prompt'];
      expect(await runProgram('node_modules/deno/deno', ['run', ...flags, 'main.mjs'])).toEqual(expected);
    });

    test('Bun', async () => {
      expect(await runProgram('node_modules/bun/bin/bun', ['main.mjs'])).toEqual(expected);
    });

    test('workerd (Cloudflare Workers), without Node.js compatibility', async () => {
      await writeFile(join(directory, 'worker.mjs'), await bundle({ format: 'esm', footer: { js: workerHandler } }));
      await writeFile(join(directory, 'miniflare.mjs'), miniflareModule);
      expect(await runProgram('node_modules/node-24/bin/node', ['miniflare.mjs'])).toEqual(expected);
    });

    test('the Edge Runtime (Vercel)', async () => {
      await writeFile(join(directory, 'edge.js'), await bundle({ format: 'iife', globalName: 'program' }));
      await writeFile(join(directory, 'edge.mjs'), edgeModule);
      expect(await runProgram('node_modules/node-24/bin/node', ['edge.mjs'])).toEqual(expected);
    });

    test.skipIf(!hasChromium)('Chromium', async () => {
      await mkdir(join(directory, 'page'), { recursive: true });
      const script = await bundle({ format: 'esm', footer: { js: 'globalThis.runClient = runClient;' } });
      const page = '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/script.js"></script>';
      const url = await listen((req, res) => {
        const isScript = req.url === '/script.js';
        res.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' }).end(isScript ? script : page);
      });
      const chromium = await launchChromium();
      try {
        const tab = await chromium.newPage();
        await tab.goto(url);
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the script defines the function
        const runInPage = (given: RuntimeInput) => (globalThis as unknown as { runClient: (it: RuntimeInput) => unknown }).runClient(given);
        expect(
          await tab.evaluate(runInPage, {
            ...input,
            token: await obtainClientToken(shop.origin, { clientId: input.clientId, secret: input.clientSecret }, scopeNames),
          }),
        ).toEqual(expected);
      } finally {
        await chromium.close();
      }
    });

    test('every entry point runs without Node modules, except /authorization/node', async () => {
      const manifest = JSON.parse(await readFile(join(directory, 'node_modules/@mandate/client-sdk/package.json'), 'utf8'));
      const entries = Object.keys(manifest.exports).filter((name) => name !== './package.json');
      const withNodeModules = [];
      for (const entry of entries) {
        const contents = `export * from '@mandate/client-sdk${entry.slice(1)}'`;
        const external = ['node:*', 'react', 'react/*', 'msw'];
        const stdin = { contents, resolveDir: directory };
        const result = await build({ stdin, bundle: true, write: false, platform: 'neutral', format: 'esm', external });
        if (/["']node:/.test(result.outputFiles[0]?.text ?? '')) withNodeModules.push(entry);
      }
      expect(withNodeModules).toEqual(['./authorization/node']);
    });
  },
);

const mainModule = `import { runClient } from './runtime-program.mjs';
runClient(JSON.parse(process.env.RUNTIME_INPUT)).then((result) => {
  console.log(JSON.stringify(result));
  process.exit(0);
});
`;

/** Checks whether errors from the CommonJS copy are instances of the ESM copy's classes. */
const bothFormats = `import { createRequire } from 'node:module';
import * as esm from '@mandate/client-sdk';
import * as webhooks from '@mandate/client-sdk/webhooks';
const require = createRequire(import.meta.url);
const cjs = require('@mandate/client-sdk');
const error = new cjs.SignInRequiredError('No user is signed in');
const webhookError = new (require('@mandate/client-sdk/webhooks').WebhookVerificationError)('no signature');
console.log(JSON.stringify({
  copies: new Set([esm.MandateError, cjs.MandateError]).size,
  MandateError: error instanceof esm.MandateError,
  SignInRequiredError: error instanceof esm.SignInRequiredError,
  ApiError: error instanceof esm.ApiError,
  WebhookVerificationError: webhookError instanceof webhooks.WebhookVerificationError,
}));
`;

const workerHandler = `export default {
  async fetch(request) {
    return Response.json(await runClient(await request.json()).catch((error) => ({ failure: String(error?.stack) })));
  },
};`;

const miniflareModule = `import { readFileSync } from 'node:fs';
import { Miniflare } from 'miniflare';
const miniflare = new Miniflare({ modules: true, script: readFileSync('worker.mjs', 'utf8'), compatibilityDate: '2026-07-01' });
const response = await miniflare.dispatchFetch('http://worker.example/', { method: 'POST', body: process.env.RUNTIME_INPUT });
console.log(await response.text());
await miniflare.dispose();
`;

const edgeModule = `import { readFileSync } from 'node:fs';
import { EdgeRuntime } from 'edge-runtime';
const runtime = new EdgeRuntime({ initialCode: readFileSync('edge.js', 'utf8') });
console.log(JSON.stringify(await runtime.evaluate(\`program.runClient(\${process.env.RUNTIME_INPUT})\`)));
process.exit(0);
`;
