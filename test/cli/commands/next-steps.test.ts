import { describe, expect, test } from 'vitest';
import { manualProvider } from '../../../server/payments/providers/manual-provider.ts';
import { indexPaymentProvidersByName } from '../../../server/payments/providers/payment-provider.ts';
import { withPaymentTestShop, type PaymentTestShop } from '../../support/shop/payment-test-shop.ts';
import { signUp, obtainTokens } from '../../support/oauth/oauth-flow.ts';
import { startStubServer } from '../../sdk/stub-server.ts';
import { runInProcess, type CommandOutcome } from '../run-command-line.ts';

/** Returns the arguments of the command suggested in the previous command's output. */
const suggestedCommand = ({ stderr }: CommandOutcome): string[] => {
  const [, command = ''] = /: mandate (.+)$/m.exec(stderr) ?? [];
  return command.split(' ');
};
const as = (till: PaymentTestShop, token: string) => (argv: readonly string[]) =>
  runInProcess(argv, { env: { MANDATE_API_URL: till.mandate.origin, MANDATE_TOKEN: token } });
async function customer(till: PaymentTestShop): Promise<string> {
  const scopes = ['orders.read', 'orders.write', 'payments.read', 'payments.write'] as const;
  return (await obtainTokens(till.mandate.origin, await signUp(till.mandate.origin), scopes)).access_token;
}
const orderArguments = async (till: PaymentTestShop): Promise<string[]> => {
  const item = `product_id=${(await till.shop.createProduct()).id},quantity=2`;
  return ['orders', 'create', '--item', item, '--delivery.method', 'pickup', '--delivery.recipient-name', 'Ann Lee'];
};

describe('in development', () => {
  const till = withPaymentTestShop();

  test('the command suggested after placing an order pays for it', async () => {
    const run = as(till, await customer(till));
    const placed = await run(await orderArguments(till));
    expect(placed.exitCode).toBe(0);
    const next = suggestedCommand(placed);
    expect(next.slice(0, 2)).toEqual(['orders', 'pay']);
    const paid = await run([...next, '-y']);
    expect(paid).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^status\tsucceeded$/m) });
    expect((await run(['orders', 'get', next[2] ?? '', '--get', 'status'])).stdout).toBe('paid\n');
  });

  test('the command suggested after creating a quote places the order', async () => {
    const run = as(till, await customer(till));
    const [, , ...order] = await orderArguments(till);
    const quoted = await run(['quotes', 'create', ...order]);
    const next = suggestedCommand(quoted);
    expect(next).toEqual(['orders', 'create', '--quote-id', expect.stringMatching(/^\d+$/)]);
    expect((await run(['quotes', 'get', next[3] ?? '', '--get', 'status'])).stdout).toBe('open\n');
    expect(suggestedCommand(await run(next)).slice(0, 2)).toEqual(['orders', 'pay']);
    const listed = await run(['quotes', 'list']);
    expect(listed).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^\d+\tconverted\t/m) });
    const canceled = await run(['quotes', 'cancel', next[3] ?? '']);
    expect(canceled).toMatchObject({ exitCode: expect.any(Number), stderr: expect.stringContaining('The quote is converted') });
  });

  test('a declined payment suggests paying again, and an unknown token lists the known tokens', async () => {
    const run = as(till, await customer(till));
    const [, , id = ''] = suggestedCommand(await run(await orderArguments(till)));
    const unknown = await run(['orders', 'pay', id, '-y', '--method-token', 'test_okay']);
    expect(unknown).toMatchObject({ exitCode: 8, stderr: expect.stringMatching(/--method-token: .*test_ok, test_declined/) });
    const declined = await run(['orders', 'pay', id, '-y', '--method-token', 'test_declined']);
    expect(declined.exitCode).toBe(12);
    expect(await run([...suggestedCommand(declined), '-y'])).toMatchObject({ exitCode: 0 });
  });

  test('the suggested commands lead staff from a payment to a delivered shipment', async () => {
    const order = await till.placeOrder();
    const run = as(till, till.shop.token);
    let outcome = await run(['orders', 'pay', String(order.id), '--provider', 'manual', '-y']);
    const walked: string[] = [];
    for (let next = suggestedCommand(outcome); next[0] !== ''; next = suggestedCommand(outcome)) {
      walked.push(next.slice(0, 2).join(' '));
      outcome = await run(next);
      expect(outcome.exitCode, outcome.stderr).toBe(0);
    }
    expect(walked).toEqual(['payments confirm', 'shipments create', 'shipments update', 'shipments update']);
    expect(await till.get(`/orders/${order.id}`)).toMatchObject({ status: 'delivered' });
  });

  test('creating a draft product suggests the command that puts it on sale', async () => {
    const run = as(till, till.shop.token);
    const argv = ['products', 'create', '--sku', 'NEXT-1', '--name', 'A', '--category', 'a', '--price', '9.99', '--currency', 'GBP'];
    const created = await run(argv);
    expect(created.stdout).toMatch(/^price\t999$/m);
    expect((await run(suggestedCommand(created))).stdout).toMatch(/^status\tactive$/m);
  });
});

describe('without the test provider', () => {
  const till = withPaymentTestShop(indexPaymentProvidersByName(manualProvider));

  test('orders pay creates no payment and lists the enabled providers', async () => {
    const run = as(till, await customer(till));
    const [, , id = ''] = suggestedCommand(await run(await orderArguments(till)));
    expect(await run(['orders', 'pay', id, '-y'])).toEqual({
      exitCode: 8,
      stdout: '',
      stderr: `error: This service has no test provider, so no payment was made\nhint: Choose how to pay: mandate orders pay ${id} --provider manual\n`,
    });
    expect((await till.get(`/orders/${id}/payments`)).data).toEqual([]);
    const manual = await run(['orders', 'pay', id, '--provider', 'manual', '-y']);
    expect(manual).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/staff member confirms the payment: mandate payments confirm \d+\n$/),
    });
  });
});

describe('the suggested command', () => {
  const created = async (...argv: string[]): Promise<CommandOutcome> => {
    await using server = await startStubServer(() => ({ status: 201, body: { id: 7, status: 'pending' } }));
    const order = ['orders', 'create', '--item', 'product_id=1,quantity=1', '--delivery.method', 'a', '--delivery.recipient-name', 'A'];
    return await runInProcess([...order, ...argv, '--api-url', server.url], { env: { MANDATE_TOKEN: 'secret' } });
  };

  test('uses the same service and profile', async () => {
    expect((await created()).stderr).toMatch(/^Pay for the order: mandate orders pay 7 --api-url http:\S+\n$/);
    expect((await created('--profile', 'work')).stderr).toContain('mandate orders pay 7 --profile work --api-url');
  });

  test.each([['--json'], ['--quiet'], ['--get', 'id'], ['--jq', '.id']])('is not printed with %s', async (...flags) => {
    expect((await created(...flags)).stderr).toBe('');
  });
});
