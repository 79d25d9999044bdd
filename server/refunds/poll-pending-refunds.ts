import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import type { PaymentProviders } from '../payments/providers/payment-provider.ts';
import { submitRefund } from './submit-refund.ts';

// Also schedules the next check after half of the refund's age.
const takeDueRefund = prepareStatement<{ id: number }>(
  'claim_due_refund',
  `update refunds r set next_check_at = $1::timestamptz + least(interval '1 hour', greatest(interval '30 seconds', ($1::timestamptz - r.created_at) / 2))
    where r.id = (
      select id from refunds where status = 'pending' and next_check_at <= $1 order by next_check_at limit 1 for no key update skip locked)
   returning r.id`,
);

/** Submits pending refunds, and polls the providers for refunds already submitted. Returns the number of checked refunds. */
export async function pollPendingRefunds(em: EntityManager, providers: PaymentProviders, now: Date): Promise<number> {
  let checked = 0;
  for (let [due] = await takeDueRefund(em, [now.toISOString()]); due; [due] = await takeDueRefund(em, [now.toISOString()])) {
    await submitRefund(em, providers, due.id);
    checked += 1;
  }
  return checked;
}
