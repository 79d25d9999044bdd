import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { contract } from '@mandate/contract';
import { databaseKind } from '../../support/services/database.ts';
import type { ApiResponse } from '../../support/server/start-mandate.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { signUpWithRole, obtainTokens, type TestUser } from '../../support/oauth/oauth-flow.ts';

type Administrator = TestUser & { readonly token: string };
type Change = (id: number, by: Administrator) => Promise<string | undefined>;

const shop = withShop({ sampleData: false });

const errorCode = ({ status, body }: ApiResponse): string | undefined => (status < 300 ? undefined : body.code);
const patchWith =
  (body: object): Change =>
  async (id, { token }) =>
    errorCode(await shop.callApi('PATCH', `/api/v1/users/${id}`, { token, body }));

/** All changes after which a user is no longer an active administrator: a different role, a different status, or account deletion. */
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
  ['DELETE', async (id, { token }) => errorCode(await shop.callApi('DELETE', `/api/v1/users/${id}`, { token }))],
];
const closeOwnAccount = async ({ browser }: Administrator): Promise<boolean> =>
  (await browser.submit(await browser.open('/account/close'), {})).response.status === 200;

/** Creates administrators, and makes all other users customers. */
async function createOnlyAdministrators(count: number): Promise<Administrator[]> {
  await shop.db.em.fork().execute(`update users set role = 'customer'`);
  return Promise.all(
    Array.from({ length: count }, async () => {
      const person = await signUpWithRole(shop.db, shop.origin, 'admin');
      return { ...person, token: (await obtainTokens(shop.origin, person, ['users.manage', 'users.administer'])).access_token };
    }),
  );
}

async function countActiveAdministrators(): Promise<number> {
  const [row] = await shop.db.em
    .fork()
    .execute<{ n: number }[]>(`select count(*)::int as n from users where role = 'admin' and status = 'active'`);
  return row?.n ?? 0;
}

/**
 * Returns this database's deadlock count. Each PostgreSQL connection updates this count at most once per second, when a transaction
 * completes.
 */
async function countDeadlocks(): Promise<number> {
  await sleep(1_100);
  await Promise.all(Array.from({ length: 30 }, () => shop.callApi('GET', '/api/v1/products')));
  const [row] = await shop.db.em
    .fork()
    .execute<{ deadlocks: string }[]>('select deadlocks from pg_stat_database where datname = current_database()');
  return Number(row?.deadlocks);
}

function firstTwo([one, other]: readonly Administrator[]): [Administrator, Administrator] {
  if (!one || !other) throw new Error('fewer than two administrators');
  return [one, other];
}

test('the contract has at least two other roles, and a status besides active', () => {
  expect(changes.length).toBeGreaterThanOrEqual(4);
});

describe.each(changes)('%s', (_name, change) => {
  test('is rejected for the last administrator, and accepted for one of two', async () => {
    const [one, other] = firstTwo(await createOnlyAdministrators(2));
    expect(await change(other.id, one)).toBeUndefined();
    expect(await change(one.id, one)).toBe('last_administrator');
    expect(await countActiveAdministrators()).toBe(1);
  });

  test.skipIf(databaseKind === 'pglite')('leaves one of two administrators who do this to each other concurrently', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [one, other] = firstTwo(await createOnlyAdministrators(2));
      const codes = await Promise.all([change(other.id, one), change(one.id, other)]);
      expect(codes.filter((code) => code === undefined)).toHaveLength(1);
      expect(await countActiveAdministrators()).toBe(1);
    }
    expect(await countDeadlocks()).toBe(0);
  });
});

test('an administrator can close the account only if another administrator remains', async () => {
  const [one, other] = firstTwo(await createOnlyAdministrators(2));
  expect([await closeOwnAccount(other), await closeOwnAccount(one)]).toEqual([true, false]);
  expect(await countActiveAdministrators()).toBe(1);
});

test.skipIf(databaseKind === 'pglite')('one of two administrators remains when both close their accounts concurrently', async () => {
  for (let round = 0; round < 5; round += 1) {
    const administrators = await createOnlyAdministrators(2);
    const closed = await Promise.all(administrators.map(closeOwnAccount));
    expect(closed.filter(Boolean)).toHaveLength(1);
    expect(await countActiveAdministrators()).toBe(1);
  }
  expect(await countDeadlocks()).toBe(0);
});
