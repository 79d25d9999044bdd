import { defineEntity, p } from '@mikro-orm/core';

/** An event from a payment provider. Events are stored before they are acknowledged. */
export const ProviderEventRecord = defineEntity({
  name: 'ProviderEventRecord',
  tableName: 'provider_events',
  properties: {
    provider: p.text().primary(),
    eventId: p.text().primary(),
    type: p.text(),
    subject: p.enum(['payment', 'refund']),
    reference: p.text(),
    receivedAt: p.datetime(3).defaultRaw('now()'),
    attempts: p.integer().default(0),
    nextAttemptAt: p.datetime(3).defaultRaw('now()'),
    processedAt: p.datetime(3).nullable(),
    /** Reason why the event has not been applied. */
    error: p.text().nullable(),
  },
  indexes: [{ name: 'provider_events_waiting', properties: ['nextAttemptAt'], where: 'processed_at is null' }],
});
