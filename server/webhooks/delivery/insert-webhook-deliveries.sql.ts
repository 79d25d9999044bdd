import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import { buildAllEndpointEventPairsSql } from '../endpoints/select-permitted-endpoint-event-pairs.sql.ts';

// Written in SQL because MikroORM does not support INSERT ... SELECT.
export const insertWebhookDeliveries = prepareStatement(
  'insert_webhook_deliveries',
  `insert into webhook_deliveries (endpoint_id, event_id, seq, status, next_attempt_at, finished_at)
   select endpoint_id, event_id, seq, case status when 'enabled' then 'pending' else 'skipped' end, now(),
          case status when 'enabled' then null else now() end
     from (${buildAllEndpointEventPairsSql('v.seq between $1 and $2')}) pairs
   on conflict (event_id, endpoint_id) do nothing`,
);
