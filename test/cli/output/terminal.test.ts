import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { getDisplayWidth } from '../../../cli/terminal/sanitize-and-measure-terminal-text.ts';
import { startStubServer } from '../../sdk/stub-server.ts';
import { createConfigDirectory } from '../run-command-line.ts';

const run = promisify(execFile);
const main = join(import.meta.dirname, '../../../cli/main.ts');

/** Runs a command line in a pseudo-terminal and returns everything written to it. */
async function onTerminal(columns: number, argv: readonly string[], env: Record<string, string>): Promise<string> {
  await using home = await createConfigDirectory();
  const words = [process.execPath, main, ...argv].map((word) => `'${word}'`).join(' ');
  const command = `stty cols ${columns} rows 40; ${words}`;
  const { stdout } = await run('script', ['-qec', command, join(home.path, 'typescript')], {
    env: { PATH: '/usr/bin:/bin', TERM: 'xterm', SHELL: '/bin/sh', MANDATE_CONFIG_DIR: home.path, ...env },
    timeout: 20_000,
  });
  return stdout.replaceAll('\r\n', '\n');
}

const names = [
  '木製の箱とドミノのセット、子供用',
  'Box 🎁 with a very long name that goes on and on',
  '\u001b[35mred\u0007 \u001b]0;title\u0007',
  'a\u202eb',
];
const product = { sku: 'A-1', category: 'toys', price: 1205, currency: 'EUR', stock: 7, status: 'active' };

describe.skipIf(!existsSync('/usr/bin/script'))('on a terminal', () => {
  test.each([30, 50, 100])('with %i columns, a list with any names fits', async (columns) => {
    await using server = await startStubServer(() => ({
      body: { data: names.map((name, id) => ({ ...product, id, name })), has_more: true, next_cursor: 'next' },
    }));
    const shown = await onTerminal(columns, ['products', 'list'], { MANDATE_API_URL: server.url });
    // Apart from the command's own escape codes for bold text, the output contains no control characters.
    expect(shown.replaceAll('\u001b[1m', '').replaceAll('\u001b[22m', '').replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
    const [head = '', ...rows] = stripVTControlCharacters(shown).trimEnd().split('\n');
    expect(rows.at(-1)).toBe('4 shown; get more with --cursor next or --all');
    for (const line of [head, ...rows.slice(0, -1)]) expect(getDisplayWidth(line), line).toBeLessThanOrEqual(columns);
    expect(rows).toHaveLength(5);
    expect(shown.includes('木製の箱とドミノのセット、子供用')).toBe(columns === 100);
  });

  test.each([30, 50, 100])('with %i columns, a progress bar stays on one line and is erased at the end', async (columns) => {
    const task = (status: string, processed: number) => ({
      id: 3,
      type: 'order_export',
      status,
      progress: { processed, total: 100 },
      finished_at: status === 'running' ? null : '2026-11-20T12:00:00.000Z',
      result: null,
      error: null,
    });
    await using server = await startStubServer((_, count) => ({ body: count < 4 ? task('running', count * 25) : task('succeeded', 100) }));
    const env = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' };
    const shown = await onTerminal(columns, ['tasks', 'wait', '3', '--interval', '200ms', '--get', 'status'], env);
    const drawn = shown.split('\r\u001b[K').slice(1);
    expect(drawn.length).toBeGreaterThan(2);
    for (const line of drawn.slice(0, -1)) expect(getDisplayWidth(line), line).toBeLessThan(columns);
    expect(drawn.some((line) => line.includes('order export'))).toBe(true);
    expect(drawn.at(-1)).toBe('succeeded\n');
  });

  test('NO_COLOR and TERM=dumb disable escape codes', async () => {
    await using server = await startStubServer(() => ({
      body: { data: [{ ...product, id: 1, name: 'Box' }], has_more: false, next_cursor: null },
    }));
    for (const more of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      expect(await onTerminal(80, ['products', 'list'], { MANDATE_API_URL: server.url, ...more })).not.toContain('\u001b');
    }
  });

  test('a confirmation is not requested with --no-input', async () => {
    await using server = await startStubServer(() => ({ body: { id: 42, status: 'paid', total: 4250, currency: 'EUR' } }));
    const env = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' };
    const failed: unknown = await onTerminal(80, ['orders', 'cancel', '42', '--no-input'], env).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code: 2, stdout: expect.stringContaining('Confirm in advance with: -y') });
  });
});
