import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { AdministrationClient } from './administration-client.ts';
import { buildOrder, type FaultShop } from './fault-shop.ts';

const entity = z.object({ id: z.number() });

/** Continuously places orders, pays for some of them, and cancels others. */
export async function simulateShopper(
  administration: AdministrationClient,
  shop: FaultShop,
  pauseMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { ledger } = administration;
  for (let nth = 0; !signal.aborted; nth += 1) {
    const request = buildOrder(shop, nth);
    ledger.orderRequests.set(request.key, request);
    const placed = await administration.writeUntilConfirmed(request, signal);
    if (!placed) continue;
    ledger.orders.set(request.key, placed);
    const { id } = entity.parse(JSON.parse(placed.text));
    if (nth % 3 === 0) {
      const payment = { key: randomUUID(), path: `/orders/${id}/payments`, body: '{"provider":"test","method_token":"test_ok"}' };
      const paid = await administration.writeUntilConfirmed(payment, signal);
      if (paid) ledger.payments.set(id, paid);
    } else if (nth % 5 === 0) {
      const cancellation = { key: randomUUID(), path: `/orders/${id}/cancellation`, body: '{}' };
      const canceled = await administration.writeUntilConfirmed(cancellation, signal);
      if (canceled) ledger.cancellations.set(id, canceled);
    }
    await sleep(pauseMs);
  }
}

/** Places orders at a fixed rate without waiting for responses, to detect the first success after a fault. */
export async function sendOrderProbes(
  administration: AdministrationClient,
  shop: FaultShop,
  perSecond: number,
  signal: AbortSignal,
): Promise<void> {
  const { ledger } = administration;
  const pendingProbes: Promise<void>[] = [];
  const sendProbe = async (nth: number): Promise<void> => {
    const request = buildOrder(shop, nth);
    ledger.orderRequests.set(request.key, request);
    const began = performance.now();
    const { status, text } = await administration.sendOnce(request.path, request);
    ledger.count(status);
    if (status !== 201) return; // the audit retries the request
    ledger.acknowledge(began);
    ledger.orders.set(request.key, { ...request, text });
  };
  for (let nth = 0; !signal.aborted; nth += 1) {
    pendingProbes.push(sendProbe(nth));
    await sleep(1_000 / perSecond, undefined, { signal }).catch(() => undefined);
  }
  await Promise.all(pendingProbes);
}
