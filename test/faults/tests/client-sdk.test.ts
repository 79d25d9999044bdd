import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ConnectionError, createClient, DecodeError, TimeoutError, type Client } from '@mandate/client-sdk';
import { networkFaults, openChaosProxy, type NetworkFault } from '../../support/network/chaos-proxy.ts';
import { pickupDelivery } from '../../support/shop/test-shop.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop();
let product: { readonly id: number };
const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);

beforeAll(async () => {
  product = await shop.createProduct({ stock: 1_000 });
  process.on('unhandledRejection', onUnhandled);
});
afterAll(() => void process.off('unhandledRejection', onUnhandled));
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0)); // removes the delay before retries
afterEach(() => void vi.restoreAllMocks());

const clientAt = (baseUrl: string, maxRetries?: number): Client => createClient({ baseUrl, auth: shop.token, timeoutMs: 300, maxRetries });
const classOf = {
  refused: ConnectionError,
  lost: ConnectionError,
  half: ConnectionError,
  html: DecodeError,
  late: TimeoutError,
  slow: TimeoutError,
};

describe.each(networkFaults)('when the connection to the server has the fault "%s"', (fault) => {
  test('once, the client retries the request successfully', async () => {
    await using proxy = await openChaosProxy(shop.origin, (count) => (count === 1 ? fault : undefined));
    await expect(clientAt(proxy.url).products.get(product.id)).resolves.toMatchObject({ id: product.id });
    expect(proxy.appliedFaults).toEqual([fault, 'none']);
  });

  test('on every request, the client reports the matching error class, as an exception and as a value', async () => {
    await using proxy = await openChaosProxy(shop.origin, () => fault);
    await expect(clientAt(proxy.url).products.get(product.id)).rejects.toBeInstanceOf(classOf[fault]);
    const result = await clientAt(proxy.url, 0).products.list().safe();
    expect(!result.ok && result.error).toBeInstanceOf(classOf[fault]);
    expect(proxy.appliedFaults).toHaveLength(4);
  });
});

test('orders placed over an unreliable connection are placed exactly once', { timeout: 120_000 }, async () => {
  // a fixed pseudo-random sequence in which half of the requests fail
  let seed = 7;
  const next = (): number => (seed = (seed * 48_271) % 2_147_483_647);
  const fate = (): NetworkFault | undefined => networkFaults[next() % (2 * networkFaults.length)];
  await using proxy = await openChaosProxy(shop.origin, fate);
  const client = clientAt(proxy.url, 20);
  const user = await shop.createUser();
  const references = Array.from({ length: 40 }, (_, index) => `chaos-${index}`);
  const place = (reference: string) =>
    client.orders.create({ user_id: user.id, reference, items: [{ product_id: product.id, quantity: 1 }], delivery: pickupDelivery });
  for (let from = 0; from < references.length; from += 8) await Promise.all(references.slice(from, from + 8).map(place));
  const orders = await createClient({ baseUrl: shop.origin, auth: shop.token }).orders.list({ user_id: user.id }).toArray({ max: 1_000 });
  expect(orders).toHaveLength(references.length);
  expect(new Set(orders.map(({ reference }) => reference))).toEqual(new Set(references));
  for (const fault of networkFaults) expect(proxy.appliedFaults).toContain(fault);
  expect(proxy.appliedFaults.length).toBeGreaterThan(60);
});

test('these requests cause no unhandled promise rejection', () => expect(unhandled).toEqual([]));
