import { afterEach, describe, expect, test } from 'vitest';
import type { Scope } from '@mandate/contract';
import { approveDevice } from '../../support/oauth/device-flow.ts';
import { obtainLimitedTokens, type RequestedLimits } from '../../support/oauth/limited-tokens.ts';
import { obtainTokens, signUp, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { useServer } from '../../support/server/use-server.ts';
import { createConfigDirectory, killProcesses, runInProcess, spawnCommand } from '../run-command-line.ts';

const server = useServer();
afterEach(killProcesses);

const nextYear = new Date().getFullYear() + 1;
const lastDay = `${nextYear}-01-31`;
const endOfLastDay = new Date(`${lastDay}T23:59:59.999`).toISOString();

describe('mandate login with limits', () => {
  /** Signs in with a device code and the given flags. The user submits the consent page without changes. */
  async function signIn(person: TestUser, flags: readonly string[], env: Record<string, string>) {
    const command = spawnCommand(
      ['login', '--device', '--json', '--storage', 'file', '--scopes', 'orders.write,users.read', ...flags],
      env,
    );
    const code = await new Promise<string>((resolve) => {
      command.child.stdout?.on('data', (text: Buffer | string) => {
        const found = /"user_code":"([^"]+)"/.exec(String(text))?.[1];
        if (found !== undefined) resolve(found);
      });
    });
    await approveDevice(person, code);
    return command.exited;
  }

  test('requests the limits, which whoami shows', { timeout: 60_000 }, async () => {
    await using home = await createConfigDirectory();
    const person = await signUp(server.origin);
    const env = { MANDATE_API_URL: server.origin, MANDATE_CONFIG_DIR: home.path };
    const limits = ['--limit-per-order', '50', '--limit-per-month', '200.50', '--currency', 'gbp', '--until', lastDay, '--orders', 'own'];
    expect((await signIn(person, limits, env)).exitCode).toBe(0);
    const { stdout } = await runInProcess(['whoami', '--json'], { env });
    expect(JSON.parse(stdout)).toMatchObject({
      email: person.email,
      limits: {
        limits: { currency: 'GBP', per_order: 5000, per_period: 20_050, period: 'month' },
        valid_until: endOfLastDay,
        orders: 'own',
      },
      budget: { limit: 20_050, spent: 0, remaining: 20_050 },
    });
    const { stdout: text } = await runInProcess(['whoami'], { env });
    expect(text).toContain(`£50.00 per order, £200.50 per month, until ${endOfLastDay}, own orders`);
    expect(text).toMatch(/£200\.50 of £200\.50 remain until \d{4}-/);
  });

  test('is not skipped for a user who is already signed in', { timeout: 60_000 }, async () => {
    await using home = await createConfigDirectory();
    const person = await signUp(server.origin);
    const env = { MANDATE_API_URL: server.origin, MANDATE_CONFIG_DIR: home.path };
    expect((await signIn(person, [], env)).exitCode).toBe(0);
    expect(JSON.parse((await runInProcess(['whoami', '--json'], { env })).stdout)).toMatchObject({ limits: null, budget: null });
    expect((await signIn(person, ['--limit-per-order', '5', '--currency', 'EUR'], env)).exitCode).toBe(0);
    expect(JSON.parse((await runInProcess(['whoami', '--json'], { env })).stdout)).toMatchObject({
      limits: { limits: { currency: 'EUR', per_order: 500 } },
      budget: null,
    });
  });

  test('rejects limits for a token that is pasted', async () => {
    const argv = ['login', '--with-token', '--limit-per-order', '5', '--currency', 'EUR'];
    const { exitCode, stderr } = await runInProcess(argv, { env: { MANDATE_API_URL: server.origin }, stdin: 'token\n' });
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('Limits cannot be set for a pasted token')]);
  });

  test.each([
    [['--limit-per-order', '50'], '--currency: is required with an amount, as in --currency GBP'],
    [['--currency', 'GBP'], '--currency: requires an amount, as in --limit-per-order 50'],
    [['--limit-per-order', '5', '--currency', 'Pounds'], '--currency: must be an ISO 4217 code such as GBP'],
    [['--limit-per-order', '-5', '--currency', 'GBP'], '--limit-per-order: must be a positive amount of GBP'],
    [['--limit-per-order', '0', '--currency', 'GBP'], '--limit-per-order: must be a positive amount of GBP'],
    [['--limit-per-month', '5.001', '--currency', 'GBP'], '--limit-per-month: must be a positive amount of GBP'],
    [['--limit-per-day', '90071992547409.92', '--currency', 'GBP'], '--limit-per-day: must be a positive amount of GBP'],
    [['--limit-per-day', '1', '--limit-per-week', '5', '--currency', 'GBP'], '--limit-per-week: cannot be combined with --limit-per-day'],
    [['--until', 'tomorrow'], '--until: must be a date such as 2027-01-31'],
    [['--until', `${nextYear}-02-30`], '--until: must be a date such as 2027-01-31'],
    [['--until', '2026-01-31'], '--until: must not be in the past'],
    [['--orders', 'mine'], '--orders: must be own or all'],
  ])('%j is rejected, and nothing is sent: %s', async (flags, fault) => {
    const { exitCode, stderr } = await runInProcess(['login', '--no-browser', ...flags], {
      env: { MANDATE_API_URL: 'http://127.0.0.1:1' },
    });
    expect([exitCode, stderr.replaceAll(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(fault)]);
  });
});

describe('mandate apps limit', () => {
  const monthly = { currency: 'GBP', per_order: 5000, per_period: 20_000, period: 'month' };

  async function connect(
    details: RequestedLimits | undefined,
    granted: readonly Scope[] = ['connected_apps.read', 'connected_apps.write'],
  ) {
    const anna = await signUp(server.origin);
    const { access_token: token } = await obtainLimitedTokens(server.origin, anna, ['orders.write', 'connected_apps.read'], details);
    const id: number = (await server.callApi('GET', '/api/v1/connected-apps', { token })).body.data[0].id;
    const { access_token: manager } = await obtainTokens(server.origin, anna, granted);
    const env = { MANDATE_API_URL: server.origin, MANDATE_TOKEN: manager };
    return {
      run: (...flags: string[]) => runInProcess(['apps', 'limit', String(id), ...flags], { env }),
      authorization: async () => (await server.callApi('GET', '/api/v1/authorization', { token })).body,
      details: async () => (await server.callApi('GET', '/api/v1/authorization', { token })).body.authorization_details[0],
    };
  }
  const all = {
    actions: ['place', 'pay'],
    limits: monthly,
    valid_until: `${nextYear}-06-30T12:00:00.000Z`,
    orders: 'own',
    approval: 'always',
  } as const;

  test('changes the limits, with effect on the next request of the application', async () => {
    const app = await connect({ limits: monthly });
    const flags = ['--limit-per-order', '10', '--limit-per-week', '30', '--currency', 'GBP', '--until', lastDay, '--orders', 'own'];
    const { exitCode, stdout } = await app.run(...flags, '--json');
    expect([exitCode, JSON.parse(stdout).budget]).toMatchObject([0, { period: 'week', limit: 3000 }]);
    expect(await app.authorization()).toMatchObject({
      authorization_details: [
        { limits: { currency: 'GBP', per_order: 1000, per_period: 3000, period: 'week' }, valid_until: endOfLastDay, orders: 'own' },
      ],
    });
  });

  test.each([
    [['--limit-per-order', '20'], { limits: { ...monthly, per_order: 2000 } }],
    [['--limit-per-month', '99.50', '--currency', 'gbp'], { limits: { ...monthly, per_period: 9950 } }],
    [['--limit-per-day', '5'], { limits: { ...monthly, per_period: 500, period: 'day' } }],
    [['--until', lastDay], { valid_until: endOfLastDay }],
    [['--approval', 'never'], { approval: 'never' }],
    [['--actions', 'place'], { actions: ['place'] }],
    [['--actions', 'cancel,place'], { actions: ['place', 'cancel'] }],
    [
      ['--currency', 'EUR', '--limit-per-order', '1', '--limit-per-week', '2'],
      { limits: { currency: 'EUR', per_order: 100, per_period: 200, period: 'week' } },
    ],
  ] as const)('%j changes only these limits', async (flags, changed) => {
    const app = await connect(all);
    const { exitCode, stderr } = await app.run(...flags);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(await app.details()).toEqual({ type: 'mandate_orders', ...all, ...changed });
  });

  test('sets the first limits of an application', async () => {
    const app = await connect(undefined);
    expect((await app.run('--limit-per-order', '20', '--currency', 'GBP', '--approval', 'always')).exitCode).toBe(0);
    expect(await app.details()).toMatchObject({ limits: { currency: 'GBP', per_order: 2000 }, orders: 'all', approval: 'always' });
  });

  test.each([
    [[], 'At least one limit is required'],
    [['--json'], 'At least one limit is required'],
    [['--limit-per-order', '1', '--currency', 'EUR'], '--currency: the current amounts are in GBP; --limit-per-month is also required'],
    [['--limit-per-order', '0'], '--limit-per-order: must be a positive amount of GBP'],
    [['--actions', 'place,refund'], '--actions: must be a comma-separated list of one or more of: place, pay, cancel'],
    [['--approval', 'sometimes'], '--approval: must be above_limit, always or never'],
  ] as const)('%j is rejected, and nothing changes: %s', async (flags, fault) => {
    const app = await connect(all);
    const { exitCode, stderr } = await app.run(...flags);
    expect([exitCode, stderr.replaceAll(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(fault)]);
    expect(await app.details()).toEqual({ type: 'mandate_orders', ...all });
  });

  test.each([
    ['connected_apps.read', 'connected_apps.write'],
    ['connected_apps.write', 'connected_apps.read'],
  ] as const)('with a token that has only %s names the missing scope %s', async (granted, missing) => {
    const app = await connect(all, [granted]);
    const { exitCode, stderr } = await app.run('--limit-per-order', '20');
    expect([exitCode, stderr]).toEqual([5, expect.stringContaining(`mandate login --scopes +${missing}\n`)]);
    expect(await app.details()).toEqual({ type: 'mandate_orders', ...all });
  });

  test('requires a currency if the application has no limits', async () => {
    const app = await connect(undefined);
    const { exitCode, stderr } = await app.run('--limit-per-order', '20');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--currency')]);
  });
});
