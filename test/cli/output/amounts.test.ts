import { describe, expect, test } from 'vitest';
import { startStubServer, type StubServer } from '../../sdk/stub-server.ts';
import { runInProcess, type CommandOutcome } from '../run-command-line.ts';

const product = ['products', 'create', '--sku', 'A', '--name', 'A', '--category', 'a'];
const printed = (...argv: string[]): Promise<CommandOutcome> => runInProcess([...argv, '--print-request']);
const priceOf = async (...argv: string[]): Promise<unknown> => JSON.parse((await printed(...product, ...argv)).stdout).body.price;

describe('an amount', () => {
  test.each([
    ['9.99', 'GBP', 999],
    ['999', 'GBP', 999],
    ['9.9', 'EUR', 990],
    ['0.05', 'EUR', 5],
    ['1.234', 'KWD', 1234],
    ['9.99 GBP', 'GBP', 999],
    ['GBP9.99', 'GBP', 999],
    ['10 EUR', 'EUR', 1000],
    ['500 JPY', 'JPY', 500],
  ])('%s in %s is %i minor units', async (typed, currency, price) => {
    expect(await priceOf('--price', typed, '--currency', currency)).toBe(price);
  });

  test.each([
    ['9.999', 'GBP', '--price: must be an amount in GBP, such as 9.99, or a whole number in pence'],
    ['9.5', 'JPY', '--price: must be an amount in JPY, such as 10, or a whole number in yen'],
    ['9.99 EUR', 'GBP', '--price: must be in GBP, not in EUR'],
    ['cheap', 'GBP', '--price: must be a whole number, in pence'],
    ['-5', 'GBP', '--price: must be 0 or more, in pence'],
    ['9,99', 'EUR', '--price: must be a whole number, in cents'],
  ])('rejects %s in %s and names the expected unit', async (typed, currency, message) => {
    const { exitCode, stdout, stderr } = await printed(...product, `--price=${typed}`, '--currency', currency);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(`  ${message}\n`);
  });

  test('has the currency of the --input body', async () => {
    const stdin = JSON.stringify({ sku: 'A', name: 'A', category: 'a', currency: 'KWD' });
    const { stdout } = await runInProcess(['products', 'create', '--input', '-', '--price', '9.5', '--print-request'], { stdin });
    expect(JSON.parse(stdout).body.price).toBe(9500);
  });

  test('is rejected if its currency cannot be determined', async () => {
    expect(await printed('products', 'update', '7', '--price', '9.99')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--price: requires a currency, as in --price "9.99 GBP"'),
    });
  });
});

describe('the currency of an existing resource', () => {
  const startShop = (currency: string): Promise<StubServer> =>
    startStubServer(({ url }) => ({
      body: url.startsWith('/api/v1/products?')
        ? { data: [{ id: 7, currency }], has_more: false, next_cursor: null }
        : { id: 7, amount: 5000, currency },
    }));
  const run = (server: StubServer, ...argv: string[]): Promise<CommandOutcome> =>
    runInProcess(argv, { env: { MANDATE_API_URL: server.url, MANDATE_TOKEN: 'secret' } });

  test.each([
    [['products', 'update', '7', '--price', '9.99'], 'PATCH', { price: 999 }],
    [['refunds', 'create', '7', '-y', '--amount', '9.99'], 'POST', { amount: 999 }],
    [
      [
        'orders',
        'create',
        '--item',
        'product_id=7,quantity=1',
        '--delivery.method',
        'p',
        '--delivery.recipient-name',
        'A',
        '--total',
        '9.99',
      ],
      'POST',
      { total: 999 },
    ],
  ])('is used for %j', async (argv, method, body) => {
    await using server = await startShop('EUR');
    expect(await run(server, ...argv)).toMatchObject({ exitCode: 0 });
    const sent = server.seen.findLast((request) => request.method === method);
    expect(JSON.parse(sent?.body ?? '')).toMatchObject(body);
  });

  test('is used for filters', async () => {
    await using server = await startShop('EUR');
    await run(server, 'products', 'list', '--price-gte', '9.99');
    expect(server.seen.at(-1)?.url).toContain('price_gte=999');
  });

  test('must equal the currency on the command line', async () => {
    await using server = await startShop('JPY');
    const outcome = await run(server, 'refunds', 'create', '7', '-y', '--amount', '9.99 GBP');
    expect(outcome).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--amount: must be in JPY, not in GBP') });
    expect(server.seen.map(({ url }) => url)).toEqual(['/api/v1/orders/7/refunds?dry_run=true']);
  });
});
