import { expect, vi } from 'vitest';
import { startJobs } from '../../server/jobs/job-runner.ts';
import type { Database, EntityManager } from '../../server/database/entity-manager/entity-manager.ts';
import { EventSignals } from '../../server/events/event-signals.ts';
import { eventJobs } from '../../server/events/jobs.ts';
import { createLog } from '../../server/logging/logger.ts';
import { createWebhookDeliveriesForEvents } from '../../server/webhooks/delivery/create-webhook-deliveries.ts';
import { webhookJobs } from '../../server/webhooks/delivery/webhook-jobs.ts';
import { delivererOf } from './network/webhook-receiver.ts';

export const hour = 3_600_000;
export const quiet = createLog(true);
quiet.level = 'silent';

/** Polls while signals of other processes arrive, and while they do not. With an hour, only signals can be the cause of what happens. */
export function pollEvery(hearing: number, fallback: number): void {
  vi.spyOn(EventSignals.prototype, 'pollMs', 'get').mockImplementation(function poll(this: EventSignals) {
    return this.receivesAllSignals ? hearing : fallback;
  });
}

/** Sequences and delivers events, until the returned function is called. */
export function sequenceAndDeliver(db: Database): () => Promise<void> {
  const deliverer = delivererOf({ db });
  const background = startJobs([...eventJobs(db, createWebhookDeliveriesForEvents), ...webhookJobs(db, deliverer)], quiet);
  return async () => {
    await background.stop();
    await deliverer.stop();
  };
}

export const lastSeq = async (em: EntityManager): Promise<number> =>
  (await em.fork().execute<{ last_seq: number }[]>('select last_seq from event_sequence'))[0]?.last_seq ?? 0;

/** Waits until so many events have their places. */
export const placed = (em: EntityManager, count: number): Promise<void> =>
  expect.poll(() => lastSeq(em), { timeout: 10_000, interval: 20 }).toBe(count);
