import { Gauge, type Registry } from '@prometheus-io/client';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { Log } from '../logging/logger.ts';
import { maxCountedQueueLength, readQueueLengths } from './read-queue-lengths.sql.ts';

/**
 * Registers queue metrics that cover the entire installation, so they are identical in every process. The returned function updates them
 * with a query.
 */
export function registerQueueMetrics(registry: Registry, em: EntityManager, log: Log): () => Promise<void> {
  const up = new Gauge({ name: 'mandate_database_up', help: 'Whether the last database query succeeded.', registers: [registry] });
  const waiting = new Gauge({
    name: 'mandate_queue_waiting',
    help: `Overdue work of the whole installation (counted up to ${maxCountedQueueLength}): events without a sequence number, logout tokens, mail, payment provider events, tasks, webhook deliveries.`,
    labelNames: ['queue'],
    registers: [registry],
  });
  const oldest = new Gauge({
    name: 'mandate_queue_oldest_seconds',
    help: 'How long the oldest of them has been overdue.',
    labelNames: ['queue'],
    registers: [registry],
  });
  return async () => {
    // remove old values, in case the query fails
    waiting.reset();
    oldest.reset();
    try {
      for (const row of await readQueueLengths(em.fork(), [])) {
        waiting.set({ queue: row.queue }, row.waiting);
        oldest.set({ queue: row.queue }, Math.max(0, row.oldest));
      }
      up.set(1);
    } catch (error) {
      up.set(0);
      log.warn({ err: error }, 'the queues could not be counted');
    }
  };
}
