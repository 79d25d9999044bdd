import { LockMode, sql } from '@mikro-orm/core';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { PaymentProviders } from '../payments/providers/payment-provider.ts';
import { calculateNextPaymentOrRefundPollTime } from '../payments/calculate-next-payment-or-refund-poll-time.ts';
import { Refund } from './refund.entity.ts';
import { submitOrPollRefund } from './submit-or-poll-refund.ts';

/** Submits pending refunds, and polls the providers for refunds already submitted. Returns the number of checked refunds. */
export async function submitOrPollDueRefunds(em: EntityManager, providers: PaymentProviders, now: Date): Promise<number> {
  let checked = 0;
  for (let id = await claimDueRefund(em, now); id !== undefined; id = await claimDueRefund(em, now)) {
    await submitOrPollRefund(em, providers, id);
    checked += 1;
  }
  return checked;
}

/** Claims a refund that is due for a check, and schedules its next check. Refunds that another process is checking are skipped. */
const claimDueRefund = (em: EntityManager, now: Date): Promise<number | undefined> =>
  em.fork().transactional(async (inner) => {
    const skipLocked = { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, disableIdentityMap: true } as const;
    const options = { orderBy: { nextCheckAt: 'asc' }, limit: 1, ...skipLocked } as const;
    const [refund] = await inner.find(Refund, { status: 'pending', nextCheckAt: { $lte: now } }, options);
    if (!refund) return undefined;
    // The time of the next check is not part of the API representation, so updating it does not change the version.
    const values = { nextCheckAt: calculateNextPaymentOrRefundPollTime(refund.createdAt, now), version: sql`version` };
    await inner.nativeUpdate(Refund, { id: refund.id }, values);
    return refund.id;
  });
