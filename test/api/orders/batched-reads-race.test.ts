import { randomInt } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { EntityManager } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { databaseKind } from '../../support/services/database.ts';
import type { JsonBody } from '../../support/server/start-mandate.ts';
import { cliClient, signUp, obtainTokens, type TestUser } from '../../support/oauth/oauth-flow.ts';
import { buildOrderInput } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Number of concurrent readers, larger than the batch size so that the pending lookups need several queries. */
const readerCount = 150;
/** Number of orders. The number is large, so that concurrent lookups rarely read the same order and therefore rarely share a result. */
const orderCount = 300;
const changeCount = 12;
/** Number of ownership changes before each token revocation. One token of each user remains valid. */
const changesPerToken = 3;
const tokensEach = 1 + changeCount / changesPerToken / 2;

/**
 * A period of ownership. The period starts when the ownership change is sent, and ends when the response to the next change is received.
 */
type OwnershipPeriod = { readonly ownerId: number; readonly from: number; until: number };
type Credential = { readonly token: string; readonly userId: number; revocationSentAt: number; revokedAt: number };
type Observation = {
  readonly by: Credential;
  readonly id: number;
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly status: number;
  readonly body: JsonBody;
};

describe.skipIf(databaseKind === 'pglite')('during ownership changes and token revocations', { timeout: 120_000 }, () => {
  const shop = withShop();
  let users: readonly [TestUser, TestUser];
  let ids: readonly number[] = [];
  const ownershipPeriods = new Map<number, OwnershipPeriod[]>();
  const credentials: Credential[] = [];

  beforeAll(async () => {
    const product = await shop.createProduct({ stock: 1000 });
    users = [await signUp(shop.origin), await signUp(shop.origin)];
    for (const person of users)
      for (let n = 0; n < tokensEach; n += 1) {
        const { access_token: token } = await obtainTokens(shop.origin, person, ['orders.read', 'orders.write']);
        credentials.push({ token, userId: person.id, revocationSentAt: Infinity, revokedAt: Infinity });
      }
    const body = buildOrderInput([product, 1]);
    const placeOrder = async (_: unknown, n: number): Promise<number> => {
      const { userId, token } = credentials[n % credentials.length] ?? throwMissing();
      const placed = await shop.callApi('POST', '/api/v1/orders', { token, body });
      ownershipPeriods.set(placed.body.id, [{ ownerId: userId, from: 0, until: Infinity }]);
      return placed.body.id;
    };
    ids = await Promise.all(Array.from({ length: orderCount }, placeOrder));
  }, 60_000);

  /**
   * Locks the table until all readers wait for the lock, so that their lookups are sent in consecutive full batches. Runs `during` while
   * the table is locked.
   */
  async function whileReadersWait(
    table: 'orders' | 'users',
    observations: readonly Observation[],
    during: (em: EntityManager) => Promise<void>,
  ): Promise<void> {
    await shop.db.em.fork().transactional(async (em) => {
      await em.execute(`lock table ${table} in access exclusive mode`);
      let [before, idleRounds] = [-1, 0];
      await waitUntil(() => {
        idleRounds = before === observations.length ? idleRounds + 1 : 0;
        before = observations.length;
        return idleRounds >= 5;
      });
      await during(em);
    });
  }

  async function changeOwner(id: number, observations: readonly Observation[]): Promise<void> {
    const periods = ownershipPeriods.get(id) ?? [];
    const before = periods.at(-1) ?? throwMissing();
    const ownerId = users.find((person) => person.id !== before.ownerId)?.id ?? throwMissing();
    const change = async (em: EntityManager): Promise<void> => {
      periods.push({ ownerId, from: performance.now(), until: Infinity });
      await em.execute('update orders set user_id = ? where id = ?', [ownerId, id]);
    };
    if (id % 2 === 0) await whileReadersWait('orders', observations, change);
    else await change(shop.db.em.fork());
    before.until = performance.now();
  }

  async function revoke(credential: Credential, observations: readonly Observation[]): Promise<void> {
    const body = new URLSearchParams({ client_id: cliClient.clientId, token: credential.token });
    let response: Promise<Response> | undefined;
    await whileReadersWait('users', observations, async () => {
      credential.revocationSentAt = performance.now();
      response = fetch(`${shop.origin}/oauth/revocation`, { method: 'POST', body });
    });
    expect((await response)?.status).toBe(200);
    credential.revokedAt = performance.now();
  }

  async function read(observations: Observation[], by: Credential, id: number): Promise<void> {
    const sentAt = performance.now();
    const { status, body } = await shop.callApi('GET', `/api/v1/orders/${id}`, { token: by.token });
    observations.push({ by, id, sentAt, receivedAt: performance.now(), status, body });
  }

  /** Reads random orders with random tokens until the signal is aborted. */
  function readUntilAborted(observations: Observation[], stop: AbortSignal): Promise<unknown> {
    const readRepeatedly = async (): Promise<void> => {
      while (!stop.aborted) await read(observations, randomItem(credentials), randomItem(ids));
    };
    return Promise.all(Array.from({ length: readerCount }, readRepeatedly));
  }

  /** Returns a description of the violation, or undefined if some ordering of the concurrent changes explains the response. */
  function findViolation({ by, id, sentAt, receivedAt, status, body }: Observation): string | undefined {
    if (status === 401) return by.revocationSentAt <= receivedAt ? undefined : 'rejected a token before its revocation';
    if (by.revokedAt <= sentAt) return `returned ${status} for a revoked token`;
    const possiblePeriods = (ownershipPeriods.get(id) ?? []).filter(({ from, until }) => from <= receivedAt && until >= sentAt);
    if (status === 404) return possiblePeriods.some(({ ownerId }) => ownerId !== by.userId) ? undefined : 'hid an order from its owner';
    if (status !== 200) return `returned ${status}`;
    if (body.id !== id) return `returned order ${body.id} for ${id}`;
    if (body.user_id !== by.userId) return `showed an order of ${body.user_id} to ${by.userId}`;
    return possiblePeriods.some(({ ownerId }) => ownerId === by.userId) ? undefined : 'showed an order to its previous owner';
  }

  test('no response shows an order of another user or accepts a revoked token', async () => {
    const observations: Observation[] = [];
    const stop = new AbortController();
    const reading = readUntilAborted(observations, stop.signal);
    const credentialsToRevoke = credentials.filter((_, n) => n % tokensEach > 0);
    for (let change = 1; change <= changeCount; change += 1) {
      const id = randomItem(ids);
      await changeOwner(id, observations);
      await Promise.all(credentials.map((by) => read(observations, by, id)));
      if (change % changesPerToken > 0) continue;
      const credential = credentialsToRevoke[change / changesPerToken - 1] ?? throwMissing();
      await revoke(credential, observations);
      await Promise.all(ids.map((other) => read(observations, credential, other)));
    }
    const changedAt = performance.now();
    while (!observations.some(({ sentAt, status }) => sentAt > changedAt && status === 200)) await shop.callApi('GET', '/api/v1/products');
    stop.abort();
    await reading;
    expect(observations.flatMap((response) => findViolation(response) ?? [])).toEqual([]);
    for (const status of [200, 401, 404]) expect(observations.filter((response) => response.status === status).length).toBeGreaterThan(10);
  });
});

const randomItem = <Item>(items: readonly Item[]): Item => items[randomInt(items.length)] ?? throwMissing();

function throwMissing(): never {
  throw new Error('the test did not create this value');
}
