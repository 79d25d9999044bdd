import { prepareStatement } from '../database/queries/prepared-statement.ts';

/** Maximum number of rows that are counted per queue. The exact length of a longer queue does not matter. */
export const maxCountedQueueLength = 10_000;
const maxCountedPerEndpoint = 1_000;

const queues = ['events', 'logout_tokens', 'mails', 'provider_events', 'tasks', 'webhooks'] as const;

type Row = { readonly queue: string; readonly waiting: number; readonly oldest: number };

const queueSql = (name: (typeof queues)[number], table: string, time: string, condition: string, order = time): string =>
  `select '${name}' as queue, count(*)::int as waiting, coalesce(extract(epoch from now() - min(time)), 0)::float8 as oldest
     from (select ${time} as time from ${table} where ${condition} order by ${order} limit ${maxCountedQueueLength}) counted`;

// Written in SQL because MikroORM supports neither recursive index walks nor lateral joins. Each condition matches an index. Webhook
// deliveries are counted per endpoint, because they are also sent per endpoint. Paused and disabled endpoints are excluded.
export const readQueueLengthsAndOldestAges = prepareStatement<Row>(
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
         order by d.next_attempt_at limit ${maxCountedPerEndpoint}) due (time))
   ${[
     queueSql('events', 'events', 'created_at', 'seq is null', 'id'),
     queueSql('logout_tokens', 'logout_notifications', 'due_at', 'due_at <= now()'),
     queueSql('mails', 'outgoing_mails', 'due_at', 'due_at <= now()'),
     queueSql('provider_events', 'provider_events', 'next_attempt_at', 'processed_at is null and next_attempt_at <= now()'),
     queueSql('tasks', 'tasks', 'lease_until', `status in ('queued', 'running') and lease_until <= now()`),
     queueSql('webhooks', 'webhooks', 'time', 'true'),
   ].join(' union all ')}`,
);
