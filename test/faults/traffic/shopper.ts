import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Administration } from './administration.ts';
import { orderOf, type FaultShop } from './shop.ts';

const entity = z.object({ id: z.number() });

/** Orders again and again; pays for some of it, and takes some of it back. */
export async function buy(administration: Administration, shop: FaultShop, pauseMs: number, signal: AbortSignal): Promise<void> {
  const { ledger } = administration;
  for (let nth = 0; !signal.aborted; nth += 1) {
    const asked = orderOf(shop, nth);
    ledger.asked.set(asked.key, asked);
    const placed = await administration.untilConfirmed(asked, signal);
    if (!placed) continue;
    ledger.orders.set(asked.key, placed);
    const { id } = entity.parse(JSON.parse(placed.text));
    if (nth % 3 === 0) {
      const payment = { key: randomUUID(), path: `/orders/${id}/payments`, body: '{"provider":"test","method_token":"test_ok"}' };
      const paid = await administration.untilConfirmed(payment, signal);
      if (paid) ledger.payments.set(id, paid);
    } else if (nth % 5 === 0) {
      const cancellation = { key: randomUUID(), path: `/orders/${id}/cancellation`, body: '{}' };
      const canceled = await administration.untilConfirmed(cancellation, signal);
      if (canceled) ledger.cancellations.set(id, canceled);
    }
    await sleep(pauseMs);
  }
}

/** Orders so many times a second, whoever is still waiting for an answer: the first success after a fault is not missed. */
export async function probe(administration: Administration, shop: FaultShop, perSecond: number, signal: AbortSignal): Promise<void> {
  const { ledger } = administration;
  const underWay: Promise<void>[] = [];
  const one = async (nth: number): Promise<void> => {
    const asked = orderOf(shop, nth);
    ledger.asked.set(asked.key, asked);
    const began = performance.now();
    const { status, text } = await administration.once(asked.path, asked);
    ledger.count(status);
    if (status !== 201) return; // it is asked for again in the end
    ledger.acknowledge(began);
    ledger.orders.set(asked.key, { ...asked, text });
  };
  for (let nth = 0; !signal.aborted; nth += 1) {
    underWay.push(one(nth));
    await sleep(1_000 / perSecond, undefined, { signal }).catch(() => undefined);
  }
  await Promise.all(underWay);
}
