import { Gauge, type Registry } from '@prometheus-io/client';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import type { Log } from '../logging/logger.ts';

/** Counting stops here: a queue this long is too long, however long it is. */
const countedMax = 10_000;
const countedOfEndpoint = 1_000;

const queues = ['events', 'mails', 'provider_events', 'tasks', 'webhooks'] as const;

type Row = { readonly queue: string; readonly waiting: number; readonly oldest: number };

const queue = (name: (typeof queues)[number], table: string, time: string, condition: string, order = time): string =>
  `select '${name}' as queue, count(*)::int as waiting, coalesce(extract(epoch from now() - min(time)), 0)::float8 as oldest
     from (select ${time} as time from ${table} where ${condition} order by ${order} limit ${countedMax}) counted`;

// Each condition is that of an index. Endpoint by endpoint, as they are delivered: what waits for one that is paused or disabled is not late.
const readQueues = statement<Row>(
  'read_queues',
  `with recursive endpoints (id) as (
     (select d.endpoint_id from webhook_deliveries d where d.status = 'pending' order by d.endpoint_id limit 1)
     union all
     select (select d.endpoint_id from webhook_deliveries d where d.status = 'pending' and d.endpoint_id > w.id order by d.endpoint_id limit 1)
       from endpoints w where w.id is not null),
   webhooks (time) as (
     select due.time from endpoints w
       join webhook_endpoints e on e.id = w.id and e.status = 'enabled' and (e.paused_until is null or e.paused_until <= now())
      cross join lateral (
        select d.next_attempt_at from webhook_deliveries d where d.endpoint_id = e.id and d.status = 'pending' and d.next_attempt_at <= now()
         order by d.next_attempt_at limit ${countedOfEndpoint}) due (time))
   ${[
     queue('events', 'events', 'created_at', 'seq is null', 'id'),
     queue('mails', 'outgoing_mails', 'due_at', 'due_at <= now()'),
     queue('provider_events', 'provider_events', 'next_attempt_at', 'processed_at is null and next_attempt_at <= now()'),
     queue('tasks', 'tasks', 'lease_until', `status in ('queued', 'running') and lease_until <= now()`),
     queue('webhooks', 'webhooks', 'time', 'true'),
   ].join(' union all ')}`,
);

/** Of the whole installation: every process says the same. The function asks the database, which takes a while when it is away. */
export function queueMetrics(registry: Registry, em: Em, log: Log): () => Promise<void> {
  const up = new Gauge({ name: 'mandate_database_up', help: 'Whether the database answered the last question.', registers: [registry] });
  const waiting = new Gauge({
    name: 'mandate_queue_waiting',
    help: `What is due and not yet done, of the whole installation (counted up to ${countedMax}): events without their place in the order, messages to send, events of payment providers, tasks, webhook deliveries.`,
    labelNames: ['queue'],
    registers: [registry],
  });
  const oldest = new Gauge({
    name: 'mandate_queue_oldest_seconds',
    help: 'For how long the oldest of them has been due.',
    labelNames: ['queue'],
    registers: [registry],
  });
  return async () => {
    // what is not known is not said
    waiting.reset();
    oldest.reset();
    try {
      for (const row of await readQueues(em.fork(), [])) {
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
