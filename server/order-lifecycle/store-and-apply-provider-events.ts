import { type InferEntity, LockMode, type QueryResult } from '@mikro-orm/core';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { Payment } from '../payments/payment.entity.ts';
import { ProviderEventRecord } from '../payments/provider-event.entity.ts';
import { Refund } from '../refunds/refund.entity.ts';
import { applyRefundOutcomeInNewTransaction } from '../refunds/submit-or-poll-refund.ts';
import {
  undefinedIfProviderUnavailable,
  type PaymentProvider,
  type PaymentProviders,
  type ProviderEvent,
  requirePaymentProvider,
} from '../payments/providers/payment-provider.ts';
import { applyPaymentOutcomeInNewTransaction } from './apply-payment-outcome.ts';

/**
 * Maximum number of attempts for an event about an unknown payment or refund. The last attempts are an hour apart. After the last attempt,
 * the event is assumed to belong to a different system.
 */
const attemptsMax = 12;

type WaitingEvent = InferEntity<typeof ProviderEventRecord>;

/** Stores a provider's events and returns the number of new events. */
export const storeProviderEvents = (em: EntityManager, { name }: PaymentProvider, events: readonly ProviderEvent[]): Promise<number> =>
  em.transactional(async (inner) => {
    let stored = 0;
    for (const { id, type, subject, reference } of events) {
      const insert = inner.createQueryBuilder(ProviderEventRecord).insert({ provider: name, eventId: id, type, subject, reference });
      const { affectedRows }: QueryResult = await insert.onConflict(['provider', 'eventId']).ignore().execute();
      stored += affectedRows;
    }
    return stored;
  });

/** Fetches and applies the current state of each stored event's payment or refund. Returns the number of processed events. */
export async function applyCurrentStatesForDueProviderEvents(em: EntityManager, providers: PaymentProviders, now: Date): Promise<number> {
  let processedCount = 0;
  for (let event = await claimEvent(em, now); event; event = await claimEvent(em, now)) {
    if (await applyEvent(em, providers, event, now)) processedCount += 1;
  }
  return processedCount;
}

const [firstDelayMs, maxDelayMs] = [5_000, 60 * 60_000];

/** Claims a pending event and schedules the next attempt in case this one fails. Events that another process is applying are skipped. */
const claimEvent = (em: EntityManager, now: Date): Promise<WaitingEvent | undefined> =>
  em.fork().transactional(async (inner) => {
    const skipLocked = { lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, refresh: true } as const;
    const options = { orderBy: { nextAttemptAt: 'asc', receivedAt: 'asc' }, limit: 1, ...skipLocked } as const;
    const [event] = await inner.find(ProviderEventRecord, { processedAt: null, nextAttemptAt: { $lte: now } }, options);
    if (!event) return undefined;
    event.nextAttemptAt = new Date(now.getTime() + Math.min(maxDelayMs, firstDelayMs * 2 ** event.attempts));
    event.attempts += 1;
    await inner.flush();
    return event;
  });

async function applyEvent(em: EntityManager, providers: PaymentProviders, event: WaitingEvent, now: Date): Promise<boolean> {
  const { provider, eventId } = event;
  const update = (values: Partial<WaitingEvent>) => em.nativeUpdate(ProviderEventRecord, { provider, eventId }, values);
  const outcome = await apply(em, providers, event, now).catch(async (error: unknown) => {
    await update({ error: error instanceof Error ? error.message : String(error) });
    throw error;
  });
  if (outcome === 'unknown' && event.attempts < attemptsMax) {
    await update({ error: 'no payment or refund has this reference yet' });
    return false;
  }
  if (outcome === 'unavailable') return false;
  await update({ processedAt: now, error: outcome === 'unknown' ? 'no payment or refund has this reference' : null });
  return true;
}

async function apply(
  em: EntityManager,
  providers: PaymentProviders,
  event: WaitingEvent,
  now: Date,
): Promise<'applied' | 'unknown' | 'unavailable'> {
  const provider = requirePaymentProvider(providers, event.provider);
  if (event.subject === 'payment') {
    const payment = await em.findOne(
      Payment,
      { provider: provider.name, providerReference: event.reference },
      { disableIdentityMap: true },
    );
    if (!payment) return 'unknown';
    const outcome = await undefinedIfProviderUnavailable(provider.retrieve(event.reference));
    if (outcome) await applyPaymentOutcomeInNewTransaction(em, providers, payment, outcome, now);
    return outcome ? 'applied' : 'unavailable';
  }
  const ofProvider = { payment: { provider: provider.name }, providerReference: event.reference };
  const refund = await em.findOne(Refund, ofProvider, { disableIdentityMap: true });
  if (!refund) return 'unknown';
  const outcome = await undefinedIfProviderUnavailable(provider.retrieveRefund(event.reference));
  if (outcome) await applyRefundOutcomeInNewTransaction(em, providers, refund.id, outcome);
  return outcome ? 'applied' : 'unavailable';
}
