import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import type { OnSequenced } from '../../events/assign-sequence.ts';
import { allDeliveryPairsSql } from '../endpoints/event-visibility.sql.ts';

const findEndpoints = prepareStatement<{ some: boolean }>(
  'find_webhook_endpoints',
  'select exists (select 1 from webhook_endpoints) as some',
);
const insertDeliveries = prepareStatement(
  'insert_webhook_deliveries',
  `insert into webhook_deliveries (endpoint_id, event_id, seq, status, next_attempt_at, finished_at)
   select endpoint_id, event_id, seq, case status when 'enabled' then 'pending' else 'skipped' end, now(),
          case status when 'enabled' then null else now() end
     from (${allDeliveryPairsSql('v.seq between $1 and $2')}) pairs
   on conflict (event_id, endpoint_id) do nothing`,
);

/** Creates the deliveries of events in the transaction that assigns their sequence numbers, so that no event has one without the other. */
export const createDeliveries: OnSequenced = async (em: EntityManager, first, last) => {
  if ((await findEndpoints(em, []))[0]?.some) await insertDeliveries(em, [first, last]);
};
