import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contract } from '@mandate/contract';
import { databaseKind } from '../../support/services/database.ts';
import { startMandate, type Answer, type Mandate } from '../../support/server/start-mandate.ts';
import { signUpAs, tokensFor, type Person } from '../../support/oauth/oauth-flow.ts';

type Administrator = Person & { readonly token: string };
type Change = (id: number, by: Administrator) => Promise<string | undefined>;

let mandate: Mandate;
beforeAll(async () => {
  mandate = await startMandate();
});
afterAll(() => mandate.close());

const codeOf = ({ status, body }: Answer): string | undefined => (status < 300 ? undefined : body.code);
const patchWith =
  (body: object): Change =>
  async (id, { token }) =>
    codeOf(await mandate.call('PATCH', `/api/v1/users/${id}`, { token, body }));

/** Every value of the contract that makes an administrator something else, and every way to close the account. */
const { role, status } = contract.users.update.body.shape;
const changes: readonly [string, Change][] = [
  ...role
    .unwrap()
    .options.filter((name) => name !== 'admin')
    .map((name): [string, Change] => [`role ${name}`, patchWith({ role: name })]),
  ...status
    .unwrap()
    .options.filter((name) => name !== 'active')
    .map((name): [string, Change] => [`status ${name}`, patchWith({ status: name })]),
  ['DELETE', async (id, { token }) => codeOf(await mandate.call('DELETE', `/api/v1/users/${id}`, { token }))],
];
const closeOwnAccount = async ({ browser }: Administrator): Promise<boolean> =>
  (await browser.submit(await browser.open('/account/close'), {})).response.status === 200;

/** New administrators; every other one becomes a customer. */
async function onlyAdministrators(count: number): Promise<Administrator[]> {
  await mandate.db.em.fork().execute(`update users set role = 'customer'`);
  return Promise.all(
    Array.from({ length: count }, async () => {
      const person = await signUpAs(mandate.db, mandate.origin, 'admin');
      return { ...person, token: (await tokensFor(mandate.origin, person, ['users.manage', 'users.administer'])).access_token };
    }),
  );
}

async function activeAdministrators(): Promise<number> {
  const [row] = await mandate.db.em
    .fork()
    .execute<{ n: number }[]>(`select count(*)::int as n from users where role = 'admin' and status = 'active'`);
  return row?.n ?? 0;
}

/** Deadlocks of this database so far. Connections report theirs with the first transaction that they complete a second later. */
async function deadlocks(): Promise<number> {
  await sleep(1_100);
  await Promise.all(Array.from({ length: 30 }, () => mandate.call('GET', '/api/v1/products')));
  const [row] = await mandate.db.em
    .fork()
    .execute<{ deadlocks: string }[]>('select deadlocks from pg_stat_database where datname = current_database()');
  return Number(row?.deadlocks);
}

function pairOf([one, other]: readonly Administrator[]): [Administrator, Administrator] {
  if (!one || !other) throw new Error('there are not two administrators');
  return [one, other];
}

test('the contract has at least two other roles, and a status besides active', () => {
  expect(changes.length).toBeGreaterThanOrEqual(4);
});

describe.each(changes)('%s', (_name, change) => {
  test('is refused for the last administrator, and possible for one of two', async () => {
    const [one, other] = pairOf(await onlyAdministrators(2));
    expect(await change(other.id, one)).toBeUndefined();
    expect(await change(one.id, one)).toBe('last_administrator');
    expect(await activeAdministrators()).toBe(1);
  });

  test.skipIf(databaseKind === 'pglite')('of two administrators who do it to each other at once, one remains', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [one, other] = pairOf(await onlyAdministrators(2));
      const codes = await Promise.all([change(other.id, one), change(one.id, other)]);
      expect(codes.filter((code) => code === undefined)).toHaveLength(1);
      expect(await activeAdministrators()).toBe(1);
    }
    expect(await deadlocks()).toBe(0);
  });
});

test('an administrator who closes their own account has to leave another one', async () => {
  const [one, other] = pairOf(await onlyAdministrators(2));
  expect([await closeOwnAccount(other), await closeOwnAccount(one)]).toEqual([true, false]);
  expect(await activeAdministrators()).toBe(1);
});

test.skipIf(databaseKind === 'pglite')('of two administrators who close their accounts at once, one remains', async () => {
  for (let round = 0; round < 5; round += 1) {
    const administrators = await onlyAdministrators(2);
    const closed = await Promise.all(administrators.map(closeOwnAccount));
    expect(closed.filter(Boolean)).toHaveLength(1);
    expect(await activeAdministrators()).toBe(1);
  }
  expect(await deadlocks()).toBe(0);
});
