import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startStubServer } from '../../sdk/stub-server.ts';

const run = promisify(execFile);
const workspace = join(import.meta.dirname, '../../../cli');

let directory: string;
let project: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mandate-package-'));
  project = join(directory, 'project');
  await run('npm', ['pack', '--silent', '--pack-destination', directory], { cwd: workspace });
  const [tarball = ''] = (await readdir(directory)).filter((name) => name.endsWith('.tgz'));
  await mkdir(project);
  await writeFile(join(project, 'package.json'), '{ "name": "empty", "private": true }');
  // The optional keyring dependency is omitted, because the installation is offline. The package must include all other dependencies.
  await run('npm', ['install', '--offline', '--omit=optional', '--no-audit', '--no-fund', join(directory, tarball)], { cwd: project });
}, 120_000);
afterAll(() => rm(directory, { recursive: true, force: true }));

const command = (): string => join(project, 'node_modules/.bin/mandate');
const env = (more: Record<string, string> = {}): Record<string, string> => ({
  PATH: `${join(process.execPath, '..')}:/usr/bin:/bin`,
  MANDATE_CONFIG_DIR: '/nowhere',
  ...more,
});
const mandate = (argv: readonly string[], more?: Record<string, string>) => run(command(), [...argv], { env: env(more), timeout: 20_000 });

describe('the package', () => {
  test('has no dependencies and is valid', async () => {
    expect((await readdir(join(project, 'node_modules'))).filter((name) => !name.startsWith('.'))).toEqual(['@mandate']);
    const at = join(project, 'node_modules/@mandate/cli');
    expect((await readdir(at)).toSorted()).toEqual(['LICENSE', 'README.md', 'bin', 'dist', 'package.json']);
    expect((await publint({ pkgDir: at, strict: true })).messages).toEqual([]);
    expect(await readFile(join(at, 'dist/run.js'), 'utf8')).not.toMatch(/from\s*["']node:https?["']/); // these modules are slow to load
    expect(await readFile(join(at, 'dist/THIRD-PARTY-LICENSES.txt'), 'utf8')).toContain('commander 15');
  });

  test('runs after installation', async () => {
    expect((await mandate(['--version'])).stdout).toBe('0.1.0\n');
    expect((await mandate(['__complete', 'zsh', 'orders', 'canc'])).stdout).toMatch(/^cancel:/);
    expect((await mandate(['help', 'exit-codes'])).stdout).toContain('130  interrupted');
    expect(JSON.parse((await mandate(['commands', '--json'])).stdout).length).toBeGreaterThan(60);
  });

  test('filters with jq and includes the license of jq', async () => {
    expect((await mandate(['commands', '--jq', 'map(.command) | index("orders pay") != null'])).stdout).toBe('true\n');
    const licences = join(project, 'node_modules/@mandate/cli/dist/THIRD-PARTY-LICENSES.txt');
    expect(await readFile(licences, 'utf8')).toMatch(/jq-wasm 3[^]*jq is copyright \(C\) 2012 Stephen Dolan/);
  });

  test('installs a man page for every command', async () => {
    const at = join(project, 'node_modules/@mandate/cli');
    const { man }: { man: string[] } = JSON.parse(await readFile(join(at, 'package.json'), 'utf8'));
    expect(man).toEqual((await readdir(join(at, 'dist/man'))).toSorted().map((file) => `./dist/man/${file}`));
    expect(man).toEqual(expect.arrayContaining(['./dist/man/mandate.1', './dist/man/mandate-orders-pay.1']));
  });

  test('states the required Node.js version in its manifest and when run on an older version', async () => {
    const at = join(project, 'node_modules/@mandate/cli');
    expect(JSON.parse(await readFile(join(at, 'package.json'), 'utf8'))).toMatchObject({ engines: { node: '>=22.18' } });
    const older = `data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '20.20.2' })`;
    const failed = await run(process.execPath, ['--import', older, join(at, 'bin/mandate.js'), '--version'], { env: env() }).catch(Object);
    expect(failed).toMatchObject({ code: 1, stdout: '', stderr: `mandate needs Node.js 22.18 or later; this is ${process.version}.\n` });
    expect(JSON.parse(await readFile(join(workspace, 'package.json'), 'utf8'))).not.toHaveProperty('engines');
  });

  test('sends requests, retries and reports errors like the sources', async () => {
    await using server = await startStubServer((_, count) =>
      count === 1 ? { status: 503, body: 'busy' } : { body: { id: 42, note: 'Größe 木' }, headers: { etag: '"1"' } },
    );
    const more = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' };
    expect(JSON.parse((await mandate(['orders', 'get', '42', '--json'], more)).stdout)).toEqual({ id: 42, note: 'Größe 木' });
    expect(server.seen.map(({ url, headers }) => `${url} ${headers.authorization}`)).toEqual(
      Array(2).fill('/api/v1/orders/42 Bearer secret'),
    );
    const createOrder = [
      'orders',
      'create',
      '--item',
      'product_id=1,quantity=2',
      '--delivery.method',
      'pickup',
      '--delivery.recipient-name',
      'Ann',
    ];
    await mandate(createOrder, more);
    expect(JSON.parse(server.seen.at(-1)?.body ?? '')).toMatchObject({ items: [{ product_id: 1, quantity: 2 }] });
    const failed = await mandate(['orders', 'get', '42'], { ...more, MANDATE_API_URL: 'http://127.0.0.1:9' }).catch(
      (error: unknown) => error,
    );
    expect(failed).toMatchObject({ code: 11, stdout: '', stderr: expect.stringContaining('ECONNREFUSED') });
  });

  test('downloads files', async () => {
    const task = { id: 3, type: 'order_export', status: 'succeeded', progress: { processed: 1, total: 1 }, result: null, error: null };
    await using server = await startStubServer(({ url }) =>
      url.endsWith('/result') ? { body: 'id\n1\n', headers: { 'content-type': 'text/csv' } } : { body: task },
    );
    const more = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' };
    expect((await mandate(['tasks', 'result', '3'], more)).stdout).toBe('id\n1\n');
  });

  test('includes the MCP tools', async () => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    await client.connect(new StdioClientTransport({ command: command(), args: ['mcp'], env: env() }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('products_list');
    await client.close();
  });

  test('starts a sign-in with the browser', async () => {
    await using server = await startStubServer(({ headers }) => {
      const base = `http://${headers.host}`;
      return { body: { issuer: base, authorization_endpoint: `${base}/authorize`, token_endpoint: `${base}/token` } };
    });
    const argv = ['login', '--no-browser', '--timeout', '500ms'];
    const ended = await mandate(argv, { MANDATE_API_URL: server.url }).catch((error: unknown) => error);
    expect(ended).toMatchObject({ code: 4, stderr: expect.stringContaining(`${server.url}/authorize?`) });
  });
});
