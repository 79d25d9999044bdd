import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import { isEndpointAccessStillValidSql } from './select-permitted-endpoint-event-pairs.sql.ts';

// Written in SQL because the condition is shared with the SQL that selects deliveries.
const selectOrphans = prepareStatement<{ id: number }>(
  'find_orphaned_webhook_endpoints',
  `select e.id from webhook_endpoints e left join applications a on a.id = e.application_id left join users u on u.id = e.user_id
    where e.status = 'enabled' and e.authority in ('grant', 'api_key') and not (${isEndpointAccessStillValidSql}) order by e.id limit 100`,
);

/** Returns the IDs of up to 100 enabled endpoints whose grant or API key is no longer valid. */
export const findIdsOfEndpointsWithInvalidAccess = async (em: EntityManager): Promise<number[]> =>
  (await selectOrphans(em, [])).map(({ id }) => id);
