import { describe, expect, test } from 'vitest';
import { startStubServer } from '../../sdk/stub-server.ts';
import { runInProcess, type CommandOutcome } from '../run-command-line.ts';

const orders = [
  { id: 1, status: 'paid', note: 'two\nlines' },
  { id: 2, status: 'pending', note: '\u001b[31mred' },
];

async function runOnOrders(...argv: string[]): Promise<CommandOutcome & { readonly requests: number }> {
  await using server = await startStubServer(({ url }) => ({
    body: url.includes('/orders/') ? orders[0] : { data: orders, has_more: false, next_cursor: null },
  }));
  const outcome = await runInProcess(argv, { env: { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' } });
  return { ...outcome, requests: server.seen.length };
}

describe('--jq', () => {
  test.each([
    [['orders', 'list', '--jq', '.data[].id'], '1\n2\n'],
    [['orders', 'list', '--jq', '.data[] | select(.status == "paid") | .note'], 'two\nlines\n'],
    [['orders', 'list', '--jq', '.data | map({id, status})'], '[{"id":1,"status":"paid"},{"id":2,"status":"pending"}]\n'],
    [['orders', 'list', '--jsonl', '--jq', '.id'], '1\n2\n'],
    [['orders', 'list', '--all', '--jq', '.data | length'], '2\n'],
    [['orders', 'get', '1', '--jq', '.status | ascii_upcase'], 'PAID\n'],
    [['api', '/api/v1/orders', '--jq', '.data | length'], '2\n'],
    [['orders', 'list', '--jq', 'empty'], ''],
  ])('%j', async (argv, stdout) => {
    expect(await runOnOrders(...argv)).toMatchObject({ exitCode: 0, stdout, stderr: '' });
  });

  test('filters the list of commands', async () => {
    const { stdout } = await runInProcess(['commands', '--jq', 'map(select(.command == "orders pay")) | length']);
    expect(stdout).toBe('1\n');
  });

  test('prints no control characters on a terminal', async () => {
    await using server = await startStubServer(() => ({ body: { data: orders } }));
    const env = { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' };
    const { stdout } = await runInProcess(['orders', 'list', '--jq', '.data[].note'], { env, columns: 80 });
    expect(stdout).toBe('two\nlines\n\uFFFD[31mred\n');
  });

  test('rejects an invalid filter before any request', async () => {
    const outcome = await runOnOrders('orders', 'cancel', '1', '-y', '--jq', '.data ||');
    expect(outcome).toMatchObject({ exitCode: 2, stdout: '', requests: 0 });
    expect(outcome.stderr).toMatch(/^error: --jq is not a valid jq filter: syntax error/);
  });

  test('exits with code 1 and a reason if the filter fails on the response', async () => {
    expect(await runOnOrders('orders', 'list', '--jq', '.data.id')).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('Cannot index array with string'),
    });
  });

  test('has no access to the environment', async () => {
    expect((await runOnOrders('orders', 'list', '--jq', 'env.MANDATE_TOKEN')).stdout).toBe('null\n');
  });

  test.each([
    ['--get', 'data.id'],
    ['--fields', 'id'],
  ])('cannot be combined with %s', async (...flag) => {
    expect(await runOnOrders('orders', 'list', '--jq', '.data', ...flag)).toMatchObject({ exitCode: 2, requests: 0 });
  });
});
