import { expect, vi } from 'vitest';
import { startJobs } from '../../../server/jobs/job-runner.ts';
import type { Database, EntityManager } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { EventSignals } from '../../../server/events/event-signals.ts';
import { createEventSequencingAndCleanupJobs } from '../../../server/events/event-sequencing-and-cleanup-jobs.ts';
import { createLogger } from '../../../server/logging/logger.ts';
import { createWebhookDeliveriesForEvents } from '../../../server/webhooks/delivery/create-webhook-deliveries.ts';
import { createWebhookDeliveryJobs } from '../../../server/webhooks/delivery/webhook-delivery-jobs.ts';
import { createDeliveryWorker } from './webhook-receiver.ts';

export const hourMs = 3_600_000;
export const silentLog = createLogger(true);
silentLog.level = 'silent';

/**
 * Replaces the poll interval of `EventSignals`: `connectedMs` while the process receives all signals, `fallbackMs` otherwise. With an
 * interval of one hour, only signals can trigger processing during a test.
 */
export function mockPollInterval(connectedMs: number, fallbackMs: number): void {
  vi.spyOn(EventSignals.prototype, 'pollMs', 'get').mockImplementation(function poll(this: EventSignals) {
    return this.receivesAllSignals ? connectedMs : fallbackMs;
  });
}

/** Starts the jobs that sequence and deliver events. Returns a function that stops the jobs. */
export function startEventJobs(db: Database): () => Promise<void> {
  const deliverer = createDeliveryWorker({ db });
  const jobs = startJobs(
    [...createEventSequencingAndCleanupJobs(db, createWebhookDeliveriesForEvents), ...createWebhookDeliveryJobs(db, deliverer)],
    silentLog,
  );
  return async () => {
    await jobs.stop();
    await deliverer.stop();
  };
}

export const readLastSequence = async (em: EntityManager): Promise<number> =>
  (await em.fork().execute<{ last_seq: number }[]>('select last_seq from event_sequence'))[0]?.last_seq ?? 0;

/** Waits until `count` events have a sequence number. */
export const waitForEventSequence = (em: EntityManager, count: number): Promise<void> =>
  expect.poll(() => readLastSequence(em), { timeout: 10_000, interval: 20 }).toBe(count);
