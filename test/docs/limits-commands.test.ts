/** Runs every command in the shell blocks of docs/limits.md, in order, in the shells of an assistant, its customer and an administrator. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DeliveryMethod } from '../../server/delivery-methods/delivery-method.entity.ts';
import { OrderLimitSettingsEntity } from '../../server/order-limits/order-limit-settings.entity.ts';
import { createConfigDirectory } from '../cli/run-command-line.ts';
import { readCodeBlocks, repositoryRoot } from '../support/markdown.ts';
import { approveDevice } from '../support/oauth/device-flow.ts';
import { obtainTokens, signUp, type TestUser } from '../support/oauth/oauth-flow.ts';
import type { JsonBody } from '../support/server/start-mandate.ts';
import { connectRequestingApplication, requestApprovalOf60 } from '../support/shop/approval-requests.ts';
import { withShop } from '../support/shop/with-shop.ts';
import { useEventJobs } from '../support/webhooks/use-event-jobs.ts';
import { startShellSession, type ShellSession } from './guide/shell-session.ts';

const shop = withShop();
useEventJobs(shop);
const admin = shop.admin(['applications.manage']);

const blocks = (await readCodeBlocks('docs/limits.md')).filter(({ language }) => language === 'sh');

type User = 'assistant' | 'customer' | 'administrator';
const sessions = new Map<User, ShellSession>();
const cleanUps: (() => PromiseLike<unknown>)[] = [];
let watched = '';
let anna: TestUser;
const approvedCodes = new Set<string>();
let productId = 0;
/** Pending approvals that a different application requested, because the command line cannot decide on its own requests. */
const approvals: JsonBody[] = [];

const queryRow = async (sql: string): Promise<JsonBody> => (await shop.db.em.fork().execute<JsonBody[]>(sql, [anna.id]))[0];
const readLimits = (): Promise<JsonBody> =>
  queryRow(`select c.id, l.currency, l.per_order::int, l.per_period::int, l.period, l.own_orders_only, l.categories, l.approval, l.actions
             from connections c join order_limits l on l.grant_id = c.grant_id
             where c.user_id = ? and c.client_id = 'mandate-cli'`);
const readQuote = (): Promise<JsonBody> =>
  queryRow('select id, total::int, currency from quotes where user_id = ? order by id desc limit 1');
type Step = {
  readonly as: User;
  /** Returns the ID that replaces the documented ID. */
  readonly readReplacementId?: () => unknown;
  readonly check: (output: string) => unknown;
};

/** The documented commands, keyed by their first words. */
const steps: Readonly<Record<string, Step>> = {
  login: {
    as: 'assistant',
    check: async () => expect(await readLimits()).toMatchObject({ currency: 'GBP', per_order: 5000, per_period: 20_000, period: 'month' }),
  },
  whoami: { as: 'assistant', check: (output) => expect(output).toContain('50') },
  'authorization get': { as: 'assistant', check: (output) => expect(output).toContain('mandate_orders') },
  'quotes create': {
    as: 'assistant',
    readReplacementId: () => productId,
    check: async () => expect(await readQuote()).toMatchObject({ total: 6000, currency: 'GBP' }),
  },
  'approvals create': {
    as: 'assistant',
    readReplacementId: async () => (await readQuote()).id,
    check: async () =>
      expect(await queryRow('select message from approvals where user_id = ? order by id desc limit 1')).toEqual({
        message: 'The printer needs paper.',
      }),
  },
  'approvals watch': { as: 'customer', check: () => expect.poll(() => watched, { timeout: 60_000 }).toContain('pending') },
  'approvals approve': { as: 'customer', readReplacementId: () => approvals[0].id, check: () => expectDecision(0, 'approved') },
  'approvals decline': { as: 'customer', readReplacementId: () => approvals[1].id, check: () => expectDecision(1, 'declined') },
  'order-limit-settings update': {
    as: 'administrator',
    check: async () => {
      const settings = await shop.db.em.fork().findOne(OrderLimitSettingsEntity, { id: 1 });
      expect(settings?.maximumLimits).toEqual({ currency: 'GBP', per_order: 10_000 });
      expect([null, { currency: 'GBP', per_order: 5000 }]).toContainEqual(settings?.defaultLimits);
    },
  },
  'connected-apps list': { as: 'customer', check: (output) => expect(output).toContain('Mandate') },
  'connected-apps get-limits': {
    as: 'customer',
    readReplacementId: async () => (await readLimits()).id,
    check: (output) => expect(output).toContain('20000'),
  },
  'apps limit 7 --limit-category': {
    as: 'customer',
    readReplacementId: async () => (await readLimits()).id,
    check: async () => expect(await readLimits()).toMatchObject({ per_order: 5000, period: 'month', categories: ['books', 'tea'] }),
  },
  'apps limit 7 --limit-per-order': {
    as: 'customer',
    readReplacementId: async () => (await readLimits()).id,
    check: async () =>
      expect(await readLimits()).toMatchObject({ per_order: 2000, per_period: 6000, period: 'week', own_orders_only: true }),
  },
  'apps limit 7 --approval': {
    as: 'customer',
    readReplacementId: async () => (await readLimits()).id,
    check: async () =>
      expect(await readLimits()).toMatchObject({ per_order: 2000, period: 'week', approval: 'always', actions: ['place', 'pay'] }),
  },
  'connected-apps remove-limits': {
    as: 'customer',
    readReplacementId: async () => (await readLimits()).id,
    check: async () => expect(await readLimits()).toBeUndefined(),
  },
};

async function expectDecision(index: number, status: 'approved' | 'declined'): Promise<void> {
  const { id } = approvals[index];
  const events = await shop.db.em.fork().execute('select action from audit_events where subject = ? order by id', [`approval:${id}`]);
  expect(events).toEqual([{ action: 'approval.requested' }, { action: `approval.${status}` }]);
  await expect.poll(() => watched, { timeout: 60_000 }).toMatch(new RegExp(`^\\S+ {2}${id} {2}${status}`, 'm'));
}

/** Approves the login in the browser. Without a display, the command prints a link with a code instead of opening the browser. */
function approveLogin(output: string): void {
  const [, code] = /user_code=([\w-]+)/.exec(output) ?? [];
  if (code === undefined || approvedCodes.has(code)) return;
  approvedCodes.add(code);
  void approveDevice(anna, code);
}

/** Returns the user's shell. The shell is started only when the user's first command is run, because the user's token expires soon. */
async function openShell(user: User): Promise<ShellSession> {
  const open = sessions.get(user);
  if (open) return open;
  const scopes = ['approvals.decide', 'orders.read', 'events.read', 'connected_apps.read', 'connected_apps.write'] as const;
  const signedInUser = { assistant: undefined, customer: anna, administrator: admin }[user];
  const granted = user === 'administrator' ? (['applications.manage'] as const) : scopes;
  const home = await createConfigDirectory();
  cleanUps.push(() => home[Symbol.asyncDispose]());
  const session = startShellSession({
    directory: repositoryRoot,
    env: {
      HOME: home.path,
      // oxlint-disable-next-line node/no-process-env -- the shell uses the caller's programs
      PATH: process.env['PATH'] ?? '',
      MANDATE_API_URL: shop.origin,
      ...(signedInUser && { MANDATE_TOKEN: (await obtainTokens(shop.origin, signedInUser, granted)).access_token }),
    },
    onOutput(text) {
      if (user === 'assistant') approveLogin(text);
      if (user === 'customer') watched += text;
    },
  });
  cleanUps.push(() => session.close());
  sessions.set(user, session);
  return session;
}

beforeAll(async () => {
  await shop.db.em
    .fork()
    .insert(DeliveryMethod, { code: 'collection', name: 'Collection', price: 0, currency: 'GBP', requiresAddress: false, active: true });
  productId = (await shop.createProduct({ price: 6000, currency: 'GBP' })).id;
  for (const category of ['books', 'tea']) await shop.createProduct({ category });
  anna = await signUp(shop.origin);
  const other = await connectRequestingApplication(shop, anna);
  approvals.push(await requestApprovalOf60(other), await requestApprovalOf60(other));
}, 120_000);
afterAll(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

/** Returns the first words of a documented command, if there is a check for the command. */
const findStepName = (line: string): string | undefined => Object.keys(steps).find((words) => line.startsWith(`npx mandate ${words}`));
/** Replaces the ID of the resource, product or quote in a documented command. */
const replaceId = (line: string, id: unknown): string => line.replace(/(?<=^npx mandate \D+ |product_id=|--quote-id )\d+/, String(id));

async function runCommand(line: string): Promise<void> {
  const step = steps[findStepName(line) ?? ''];
  if (!step) throw new Error(`no check for: ${line}`);
  const session = await openShell(step.as);
  const command = step.readReplacementId ? replaceId(line, await step.readReplacementId()) : line;
  const runsUntilStopped = line.endsWith(' watch');
  await step.check(runsUntilStopped ? String(await session.runInBackground(command)) : await session.run(command));
}

// Blocks depend on earlier blocks, so a block cannot be retried.
test.each(blocks.map((block) => [block.name, block] as const))('%s', { timeout: 180_000, retry: 0 }, async (_name, { text }) => {
  for (const line of text.trimEnd().split('\n')) await expect(runCommand(line)).resolves.toBeUndefined();
});

test('every command has a check, and each check has a documented command', () => {
  const documented = new Set(blocks.flatMap(({ text }) => text.trimEnd().split('\n').map(findStepName)));
  expect(documented).toEqual(new Set(Object.keys(steps)));
});

test('a command without a check and a failing command fail by name', { timeout: 60_000, retry: 0 }, async () => {
  await expect(runCommand('npx mandate orders list')).rejects.toThrow('no check for: npx mandate orders list');
  await expect(runCommand('npx mandate authorization get --no-such-flag')).rejects.toThrow('The shell ended');
});
