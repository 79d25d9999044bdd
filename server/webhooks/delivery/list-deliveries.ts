import { sql } from 'kysely';
import type { WebhookDeliveryStatus } from '@mandate/contract';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { deliveryColumnsSql, type DeliveryRow } from '../endpoints/endpoint-rows.ts';

/** Returns up to `limit + 1` deliveries to an endpoint, newest events first. */
export async function listWebhookDeliveries(
  em: EntityManager,
  endpointId: number,
  status: readonly WebhookDeliveryStatus[] | undefined,
  before: number | undefined,
  limit: number,
): Promise<DeliveryRow[]> {
  const conditions = [
    sql`d.endpoint_id = ${endpointId}`,
    ...(status === undefined ? [] : [sql`d.status = any(${status}::text[])`]),
    ...(before === undefined ? [] : [sql`d.seq < ${before}`]),
  ];
  const query = sql<DeliveryRow>`
    select ${sql.raw(deliveryColumnsSql)} from webhook_deliveries d join events v on v.id = d.event_id
     where ${sql.join(conditions, sql` and `)} order by d.seq desc limit ${limit + 1}`;
  return (await query.execute(em.getKysely())).rows;
}
