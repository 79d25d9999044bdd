import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { startStubServer, type StubServer } from '../../sdk/stub-server.ts';
import { createConfigDirectory, runInProcess, type CommandOutcome } from '../run-command-line.ts';

const startShop = (): Promise<StubServer> => startStubServer(() => ({ status: 201, body: { id: 1 } }));
const runOnTerminal = (
  server: StubServer,
  argv: readonly string[],
  stdin: string,
  more: { env?: Record<string, string> } = {},
): Promise<CommandOutcome> =>
  runInProcess(argv, { env: { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret', ...more.env }, stdin, stdinIsTTY: true, columns: 80 });
const bodyOf = ({ seen }: StubServer): unknown => JSON.parse(seen.at(-1)?.body ?? 'null');

describe('on a terminal', () => {
  test('prompts only for missing required flags', async () => {
    await using server = await startShop();
    const outcome = await runOnTerminal(server, ['products', 'create', '--sku', 'A-1', '--price', '9.99'], 'Wooden box\ntoys\nEUR\n');
    expect(outcome).toMatchObject({ exitCode: 0 });
    expect(outcome.stderr).toMatch(/^Name: Category \(Category: lowercase words joined by hyphens[^)]*\): Currency.*: $/);
    expect(bodyOf(server)).toMatchObject({ sku: 'A-1', name: 'Wooden box', category: 'toys', price: 999, currency: 'EUR' });
  });

  test('prompts for lists line by line and for nested fields', async () => {
    await using server = await startShop();
    const outcome = await runOnTerminal(
      server,
      ['orders', 'create'],
      'product_id=1,quantity=2\nproduct_id=3,quantity=1\n\npickup\nAnn Lee\n',
    );
    expect(outcome).toMatchObject({ exitCode: 0 });
    expect(outcome.stderr).toContain('product_id=...,quantity=...');
    expect(bodyOf(server)).toMatchObject({
      items: [
        { product_id: 1, quantity: 2 },
        { product_id: 3, quantity: 1 },
      ],
      delivery: { method: 'pickup', recipient_name: 'Ann Lee' },
    });
  });

  test('does not prompt for the items of an order from a quote', async () => {
    await using server = await startShop();
    const outcome = await runOnTerminal(server, ['orders', 'create', '--quote-id', '7'], '');
    expect(outcome).toMatchObject({ exitCode: 0 });
    expect(bodyOf(server)).toEqual({ quote_id: 7 });
  });

  test('prompts again after an invalid value and explains the error', async () => {
    await using server = await startShop();
    const argv = ['products', 'adjust-stock', '7', '--delta', '5'];
    const outcome = await runOnTerminal(server, argv, 'found\n\nreceived\n');
    expect(outcome).toMatchObject({ exitCode: 0 });
    expect(outcome.stderr.match(/Reason \(received, correction, damaged, returned\): /g)).toHaveLength(3);
    expect(outcome.stderr).toContain('  must be one of received, correction, damaged, returned\n');
    expect(bodyOf(server)).toEqual({ delta: 5, reason: 'received' });
  });

  test('reports the missing flags if the input ends', async () => {
    await using server = await startShop();
    const outcome = await runOnTerminal(server, ['products', 'adjust-stock', '7'], '5\n');
    expect(outcome).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--reason: is required') });
    expect(server.seen).toEqual([]);
  });

  test('exits with code 130 on Ctrl-C', async () => {
    const waiting = async function* (): AsyncGenerator<string> {
      await new Promise(() => undefined);
      yield '';
    };
    const { runCommandLine: run } = await import('../../../cli/run-command-line.ts');
    const silent = { write: () => undefined, drained: async () => undefined, isTTY: true, columns: 80 };
    const exitCode = await run(['products', 'adjust-stock', '7'], {
      stdin: waiting(),
      stdinIsTTY: true,
      stdout: silent,
      stderr: silent,
      env: { MANDATE_CONFIG_DIR: '/nowhere' },
      homeDirectory: '/nowhere',
      platform: 'linux',
      keyring: () => Promise.reject(new Error('no keyring here')),
      openBrowser: async () => undefined,
      interrupted: AbortSignal.timeout(50),
    });
    expect(exitCode).toBe(130);
  });
});

describe('does not prompt', () => {
  const argv = ['products', 'adjust-stock', '7', '--delta', '5'];
  test.each([
    ['with --no-input', [...argv, '--no-input'], {}],
    ['in CI', argv, { CI: 'true' }],
  ])('%s', async (_, words, env) => {
    await using server = await startShop();
    const outcome = await runOnTerminal(server, words, 'received\n', { env });
    expect(outcome).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/^error: Invalid command line; nothing was sent/) });
    expect(server.seen).toEqual([]);
  });

  test.each([
    ['if standard input is not a terminal', { stdinIsTTY: false, columns: 80 }],
    ['if standard output is not a terminal', { stdinIsTTY: true }],
  ])('%s', async (_, surroundings) => {
    await using server = await startShop();
    const env = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' };
    const outcome = await runInProcess(argv, { env, stdin: 'received\n', ...surroundings });
    expect(outcome).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/^error: Invalid command line; nothing was sent/) });
    expect(server.seen).toEqual([]);
  });
});

describe.skipIf(!existsSync('/usr/bin/script'))('a real terminal', () => {
  test('shows the prompts, and the process exits after the last value', async () => {
    await using server = await startShop();
    await using home = await createConfigDirectory();
    const main = join(import.meta.dirname, '../../../cli/main.ts');
    const words = [process.execPath, main, 'products', 'adjust-stock', '7'].map((word) => `'${word}'`).join(' ');
    const script = `(sleep 3; echo 5; sleep 0.5; echo received; sleep 3) | script -qec "${words}" ${join(home.path, 'typescript')}`;
    const { stdout } = await promisify(execFile)('sh', ['-c', script], {
      env: {
        PATH: '/usr/bin:/bin',
        TERM: 'xterm',
        SHELL: '/bin/sh',
        MANDATE_CONFIG_DIR: home.path,
        MANDATE_API_URL: server.url,
        MANDATE_TOKEN: 'secret',
      },
      timeout: 20_000,
    });
    expect(stdout).toContain('Delta (');
    expect(stdout).toContain('Reason (');
    expect(bodyOf(server)).toEqual({ delta: 5, reason: 'received' });
  });
});
