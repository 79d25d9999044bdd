import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import { eventColumnsSql, type EventRow } from '../../events/event-from-row.ts';
import type { EncryptedWebhookSecrets } from '../endpoints/webhook-secret-and-signature.ts';
import type { EndpointAccessBasis } from '../endpoints/webhook-endpoint-and-delivery.entity.ts';

/** Duration of a lease on a claimed delivery. Every attempt finishes before the lease expires. */
const leaseSeconds = 30;
const logMax = 10;

export type ClaimedDelivery = EventRow &
  EncryptedWebhookSecrets & {
    readonly delivery_id: number;
    readonly event_id: number;
    readonly endpoint_id: number;
    readonly attempts: number;
    readonly tries: number;
    readonly url: string;
    readonly failing_since: string | null;
    readonly authority: EndpointAccessBasis;
    readonly endpoint_user_id: number | null;
  };

// Written in SQL because MikroORM cannot lock a limited number of rows per endpoint with FOR NO KEY UPDATE SKIP LOCKED. Claims a few
// deliveries per endpoint, starting after the most recently served endpoint. Therefore, the long queue of one endpoint does not delay the
// deliveries to other endpoints. The commit does not wait for the disk, because if a crash loses a claim, the worst result is that a
// delivery is sent twice.
export const claimDueDeliveryRows = prepareStatement<ClaimedDelivery>(
  'claim_webhook_deliveries',
  `with recursive waiting (endpoint_id) as (
     (select d.endpoint_id from webhook_deliveries d where d.status = 'pending' and d.endpoint_id > $1 order by d.endpoint_id limit 1)
     union all
     select (select d.endpoint_id from webhook_deliveries d where d.status = 'pending' and d.endpoint_id > w.endpoint_id order by d.endpoint_id limit 1)
       from waiting w where w.endpoint_id is not null),
   due as (
     select d.id from waiting w
       join webhook_endpoints e on e.id = w.endpoint_id and e.status = 'enabled' and (e.paused_until is null or e.paused_until <= now())
       left join unnest($4::bigint[], $5::int[]) as busy (endpoint_id, room) on busy.endpoint_id = e.id
       cross join lateral (
         select p.id from webhook_deliveries p where p.endpoint_id = e.id and p.status = 'pending' and p.next_attempt_at <= now()
          order by p.next_attempt_at limit coalesce(busy.room, $3::int) for no key update skip locked) d
      limit $2),
   claimed as (
     update webhook_deliveries d set attempts = d.attempts + 1, next_attempt_at = now() + interval '${leaseSeconds} seconds'
       from due where d.id = due.id
     returning d.id, d.endpoint_id, d.event_id, d.attempts, d.tries)
   select c.id as delivery_id, c.event_id, c.endpoint_id, c.attempts, c.tries, e.url, e.failing_since, e.authority, e.user_id as endpoint_user_id,
          e.sealed_secret, e.previous_sealed_secret, e.previous_secret_until, ${eventColumnsSql},
          set_config('synchronous_commit', 'off', true) as lazily
     from claimed c join webhook_endpoints e on e.id = c.endpoint_id join events v on v.id = c.event_id`,
);

// Written in SQL because this commit does not wait for the disk, and because the database itself appends the attempt to the log.
export const updateDeliveryAfterAttempt = prepareStatement<{ id: number }>(
  'finish_webhook_delivery',
  `update webhook_deliveries
      set status = $3, tries = tries + 1, finished_at = case $3 when 'pending' then null else now() end,
          next_attempt_at = now() + make_interval(secs => $4::float8 / 1000),
          log = (case when jsonb_array_length(log) >= ${logMax} then log - 0 else log end) || $5::jsonb
    where id = $1 and attempts = $2 and status = 'pending'
   returning id, set_config('synchronous_commit', 'off', true) as lazily`,
);
