import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import { commitRefundOutcome } from '../refunds/submit-refund.ts';
import {
  undefinedIfUnavailable,
  type PaymentProvider,
  type PaymentProviders,
  type ProviderEvent,
  requirePaymentProvider,
} from '../payments/providers/payment-provider.ts';
import { commitPaymentOutcome } from './apply-payment-outcome.ts';

/**
 * Maximum attempts for an event of an unknown payment or refund, the last ones an hour apart. After the last attempt, the event is
 * considered foreign.
 */
const attemptsMax = 12;

type WaitingEvent = ProviderEvent & { readonly provider: string; readonly event_id: string; readonly attempts: number };

const insertEvent = prepareStatement<{ event_id: string }>(
  'store_provider_event',
  `insert into provider_events (provider, event_id, type, subject, reference) values ($1, $2, $3, $4, $5)
   on conflict (provider, event_id) do nothing returning event_id`,
);
// Also schedules the next attempt, in case this attempt fails.
const takeWaitingEvent = prepareStatement<WaitingEvent>(
  'claim_provider_event',
  `update provider_events set attempts = attempts + 1,
          next_attempt_at = $1::timestamptz + least(interval '1 hour', interval '5 seconds' * power(2, attempts))
    where (provider, event_id) = (
      select provider, event_id from provider_events where processed_at is null and next_attempt_at <= $1
       order by next_attempt_at, received_at limit 1 for no key update skip locked)
   returning provider, event_id, type, subject, reference, attempts`,
);
const markProcessed = prepareStatement(
  'mark_provider_event_processed',
  'update provider_events set processed_at = $3, error = $4 where provider = $1 and event_id = $2',
);
const recordError = prepareStatement(
  'record_provider_event_failure',
  'update provider_events set error = $3 where provider = $1 and event_id = $2',
);
const findSubject = {
  payment: prepareStatement<{ id: number }>(
    'find_payment_by_reference',
    'select id from payments where provider = $1 and provider_reference = $2',
  ),
  refund: prepareStatement<{ id: number }>(
    'find_refund_by_reference',
    `select r.id from refunds r join payments p on p.id = r.payment_id where p.provider = $1 and r.provider_reference = $2`,
  ),
};

/** Stores a provider's events and returns the number of new events. */
export async function storeProviderEvents(em: EntityManager, { name }: PaymentProvider, events: readonly ProviderEvent[]): Promise<number> {
  const stored = await em.transactional(async (inner) => {
    const rows = [];
    for (const { id, type, subject, reference } of events) rows.push(...(await insertEvent(inner, [name, id, type, subject, reference])));
    return rows;
  });
  return stored.length;
}

/** Fetches and applies the current state of each stored event's payment or refund. Returns the number of processed events. */
export async function applyProviderEvents(em: EntityManager, providers: PaymentProviders, now: Date): Promise<number> {
  let processedCount = 0;
  for (let [event] = await takeWaitingEvent(em, [now.toISOString()]); event; [event] = await takeWaitingEvent(em, [now.toISOString()])) {
    if (await applyEvent(em, providers, event, now)) processedCount += 1;
  }
  return processedCount;
}

async function applyEvent(em: EntityManager, providers: PaymentProviders, event: WaitingEvent, now: Date): Promise<boolean> {
  const { provider, event_id: id } = event;
  const outcome = await apply(em, providers, event, now).catch(async (error: unknown) => {
    await recordError(em, [provider, id, error instanceof Error ? error.message : String(error)]);
    throw error;
  });
  if (outcome === 'unknown' && event.attempts < attemptsMax) {
    await recordError(em, [provider, id, 'no payment or refund has this reference yet']);
    return false;
  }
  if (outcome === 'unavailable') return false;
  await markProcessed(em, [provider, id, now.toISOString(), outcome === 'unknown' ? 'no payment or refund has this reference' : null]);
  return true;
}

async function apply(
  em: EntityManager,
  providers: PaymentProviders,
  event: WaitingEvent,
  now: Date,
): Promise<'applied' | 'unknown' | 'unavailable'> {
  const provider = requirePaymentProvider(providers, event.provider);
  const [known] = await findSubject[event.subject](em, [event.provider, event.reference]);
  if (!known) return 'unknown';
  if (event.subject === 'payment') {
    const outcome = await undefinedIfUnavailable(provider.retrieve(event.reference));
    if (outcome) await commitPaymentOutcome(em, providers, known.id, outcome, now);
    return outcome ? 'applied' : 'unavailable';
  }
  const outcome = await undefinedIfUnavailable(provider.retrieveRefund(event.reference));
  if (outcome) await commitRefundOutcome(em, providers, known.id, outcome);
  return outcome ? 'applied' : 'unavailable';
}
