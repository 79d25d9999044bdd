import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EntityManager } from '../../../server/database/entity-manager/entity-manager.ts';
import { databaseKind } from '../../support/services/database.ts';
import { startMandate, type Body, type Mandate } from '../../support/server/start-mandate.ts';
import { commandLine, signUp, tokensFor, type Person } from '../../support/oauth/oauth-flow.ts';
import { openShop, pickup } from '../../support/server/shop.ts';

/** More than go into one query together, so that what waits at a time lies on both sides of a boundary. */
const readers = 150;
/** So many that hardly two of the readers ask the same, which would be one question. */
const orders = 300;
const changes = 12;
/** One token ends with so many changes; at the end each person has one left. */
const changesPerToken = 3;
const tokensEach = 1 + changes / changesPerToken / 2;

/** What was true, at the latest from when its change was answered and at the earliest from when it was asked for. */
type Span = { readonly ownerId: number; readonly from: number; until: number };
type Credential = { readonly token: string; readonly userId: number; ending: number; ended: number };
type Seen = {
  readonly by: Credential;
  readonly id: number;
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly status: number;
  readonly body: Body;
};

describe.skipIf(databaseKind === 'pglite')('while orders change hands and tokens are revoked', { timeout: 120_000 }, () => {
  let mandate: Mandate;
  let people: readonly [Person, Person];
  let ids: readonly number[] = [];
  const spans = new Map<number, Span[]>();
  const credentials: Credential[] = [];

  beforeAll(async () => {
    mandate = await startMandate();
    const shop = await openShop(mandate);
    const product = await shop.product({ stock: 1000 });
    people = [await signUp(mandate.origin), await signUp(mandate.origin)];
    for (const person of people)
      for (let n = 0; n < tokensEach; n += 1) {
        const { access_token: token } = await tokensFor(mandate.origin, person, ['orders.read', 'orders.write']);
        credentials.push({ token, userId: person.id, ending: Infinity, ended: Infinity });
      }
    const body = { items: [{ product_id: product.id, quantity: 1 }], delivery: pickup };
    const place = async (_: unknown, n: number): Promise<number> => {
      const { userId, token } = credentials[n % credentials.length] ?? unknown();
      const placed = await mandate.call('POST', '/api/v1/orders', { token, body });
      spans.set(placed.body.id, [{ ownerId: userId, from: 0, until: Infinity }]);
      return placed.body.id;
    };
    ids = await Promise.all(Array.from({ length: orders }, place));
  }, 60_000);
  afterAll(() => mandate.close());

  /**
   * Nobody reads from the table until all readers wait for it: then what they ask goes out in full queries, one after the other, and
   * `during` happens among them.
   */
  async function withCrowd(table: 'orders' | 'users', seen: readonly Seen[], during: (em: EntityManager) => Promise<void>): Promise<void> {
    await mandate.db.em.fork().transactional(async (em) => {
      await em.execute(`lock table ${table} in access exclusive mode`);
      for (let [before, still] = [-1, 0]; still < 5; still = before === seen.length ? still + 1 : 0) {
        before = seen.length;
        await sleep(10);
      }
      await during(em);
    });
  }

  async function changeHands(id: number, seen: readonly Seen[]): Promise<void> {
    const mine = spans.get(id) ?? [];
    const before = mine.at(-1) ?? unknown();
    const ownerId = people.find((person) => person.id !== before.ownerId)?.id ?? unknown();
    const change = async (em: EntityManager): Promise<void> => {
      mine.push({ ownerId, from: performance.now(), until: Infinity });
      await em.execute('update orders set user_id = ? where id = ?', [ownerId, id]);
    };
    if (id % 2 === 0) await withCrowd('orders', seen, change);
    else await change(mandate.db.em.fork());
    before.until = performance.now();
  }

  async function revoke(credential: Credential, seen: readonly Seen[]): Promise<void> {
    const body = new URLSearchParams({ client_id: commandLine.clientId, token: credential.token });
    let answer: Promise<Response> | undefined;
    await withCrowd('users', seen, async () => {
      credential.ending = performance.now();
      answer = fetch(`${mandate.origin}/oauth/revocation`, { method: 'POST', body });
    });
    expect((await answer)?.status).toBe(200);
    credential.ended = performance.now();
  }

  async function read(seen: Seen[], by: Credential, id: number): Promise<void> {
    const sentAt = performance.now();
    const { status, body } = await mandate.call('GET', `/api/v1/orders/${id}`, { token: by.token });
    seen.push({ by, id, sentAt, answeredAt: performance.now(), status, body });
  }

  /** Anybody reads any order, again and again until told to stop. */
  function readOn(seen: Seen[], over: AbortSignal): Promise<unknown> {
    const one = async (): Promise<void> => {
      while (!over.aborted) await read(seen, anyOf(credentials), anyOf(ids));
    };
    return Promise.all(Array.from({ length: readers }, one));
  }

  /** What about an answer cannot be, whichever of the things that happened meanwhile came first. */
  function faultOf({ by, id, sentAt, answeredAt, status, body }: Seen): string | undefined {
    if (status === 401) return by.ending <= answeredAt ? undefined : 'refused a token that nobody had revoked';
    if (by.ended <= sentAt) return `answered ${status} to a token after its revocation was answered`;
    const meanwhile = (spans.get(id) ?? []).filter(({ from, until }) => from <= answeredAt && until >= sentAt);
    if (status === 404) return meanwhile.some(({ ownerId }) => ownerId !== by.userId) ? undefined : 'hid an order from its owner';
    if (status !== 200) return `answered ${status}`;
    if (body.id !== id) return `answered order ${body.id} for ${id}`;
    if (body.user_id !== by.userId) return `showed an order of ${body.user_id} to ${by.userId}`;
    return meanwhile.some(({ ownerId }) => ownerId === by.userId) ? undefined : 'showed an order to whoever had it before';
  }

  test('no answer shows another’s order, or takes a token whose revocation was answered', async () => {
    const seen: Seen[] = [];
    const over = new AbortController();
    const reading = readOn(seen, over.signal);
    const doomed = credentials.filter((_, n) => n % tokensEach > 0);
    for (let change = 1; change <= changes; change += 1) {
      const id = anyOf(ids);
      await changeHands(id, seen);
      await Promise.all(credentials.map((by) => read(seen, by, id)));
      if (change % changesPerToken > 0) continue;
      const credential = doomed[change / changesPerToken - 1] ?? unknown();
      await revoke(credential, seen);
      await Promise.all(ids.map((other) => read(seen, credential, other)));
    }
    const changedAt = performance.now();
    while (!seen.some(({ sentAt, status }) => sentAt > changedAt && status === 200)) await mandate.call('GET', '/api/v1/products');
    over.abort();
    await reading;
    expect(seen.flatMap((answer) => faultOf(answer) ?? [])).toEqual([]);
    for (const status of [200, 401, 404]) expect(seen.filter((answer) => answer.status === status).length).toBeGreaterThan(10);
  });
});

const anyOf = <Item>(items: readonly Item[]): Item => items[randomInt(items.length)] ?? unknown();

function unknown(): never {
  throw new Error('the test has not made it');
}
