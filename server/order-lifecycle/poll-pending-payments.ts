import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { cancelPayment } from './cancel-payment.ts';
import { undefinedIfUnavailable, type PaymentProviders, requirePaymentProvider } from '../payments/providers/payment-provider.ts';
import { commitPaymentOutcome } from './apply-payment-outcome.ts';
import { submitPayment } from './start-payment.ts';

type DuePayment = { id: number; provider: string; provider_reference: string | null; given_up: boolean };

// Also schedules the next check after half of the payment's age, so that new payments are polled often and old payments rarely.
const takeDuePayment = prepareStatement<DuePayment>(
  'claim_due_payment',
  `update payments p set next_check_at = $1::timestamptz + least(interval '1 hour', greatest(interval '30 seconds', ($1::timestamptz - p.created_at) / 2))
     from orders o
    where o.id = p.order_id and p.id = (
      select id from payments where status in ('pending', 'requires_action', 'processing') and next_check_at <= $1
       order by next_check_at limit 1 for no key update skip locked)
   returning p.id, p.provider, p.provider_reference,
     p.status <> 'processing' and (o.status <> 'pending' or o.expires_at <= $1) as given_up`,
);

/**
 * Polls the providers for payments that are still open, for example because the process died while creating them or because a provider
 * event was lost. Returns the number of checked payments.
 */
export async function pollPendingPayments(em: EntityManager, providers: PaymentProviders, now: Date): Promise<number> {
  let checked = 0;
  for (let [due] = await takeDuePayment(em, [now.toISOString()]); due; [due] = await takeDuePayment(em, [now.toISOString()])) {
    await checkPayment(em, providers, due, now);
    checked += 1;
  }
  return checked;
}

async function checkPayment(em: EntityManager, providers: PaymentProviders, due: DuePayment, now: Date): Promise<void> {
  if (due.provider_reference === null) return submitPayment(em, providers, due.id, now);
  if (due.given_up) return void (await cancelPayment(em, providers, due.id, now));
  const outcome = await undefinedIfUnavailable(requirePaymentProvider(providers, due.provider).retrieve(due.provider_reference));
  if (outcome) await commitPaymentOutcome(em, providers, due.id, outcome, now);
}
