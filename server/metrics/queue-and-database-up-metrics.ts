import { Gauge, type Registry } from '@prometheus-io/client';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { Log } from '../logging/logger.ts';
import { maxCountedQueueLength, readQueueLengthsAndOldestAges } from './read-queue-lengths-and-ages.sql.ts';

/**
 * Registers queue metrics that cover the entire installation. All processes of a server report the same values, so these values are not
 * added up. Each scrape sends one query.
 */
export function registerQueueAndDatabaseUpMetrics(registry: Registry, em: EntityManager, log: Log): void {
  let current: Promise<void> | undefined;
  const collect = (): Promise<void> => (current ??= update().finally(() => (current = undefined)));
  const registers = [registry];
  const up = new Gauge({
    name: 'mandate_database_up',
    help: 'Whether the last database query succeeded.',
    aggregator: 'min',
    registers,
    collect,
  });
  const waiting = new Gauge({
    name: 'mandate_queue_waiting',
    help: `Overdue work of the whole installation (counted up to ${maxCountedQueueLength}): events without a sequence number, logout tokens, mail, payment provider events, tasks, webhook deliveries.`,
    labelNames: ['queue'],
    aggregator: 'max',
    registers,
    collect,
  });
  const oldest = new Gauge({
    name: 'mandate_queue_oldest_seconds',
    help: 'How long the oldest overdue work item has been due.',
    labelNames: ['queue'],
    aggregator: 'max',
    registers,
    collect,
  });

  async function update(): Promise<void> {
    // removes the old values, so that they are not reported if the query fails
    waiting.reset();
    oldest.reset();
    try {
      for (const row of await readQueueLengthsAndOldestAges(em.fork(), [])) {
        waiting.set({ queue: row.queue }, row.waiting);
        oldest.set({ queue: row.queue }, Math.max(0, row.oldest));
      }
      up.set(1);
    } catch (error) {
      up.set(0);
      log.warn({ err: error }, 'the queues could not be counted');
    }
  }
}
