import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import type { OnSequenced } from '../../events/assign-sequence.ts';
import { checkForEndpoints, insertDeliveries } from './insert-deliveries.sql.ts';

/** Creates the deliveries of events in the transaction that assigns the sequence numbers, so that both are committed together. */
export const createWebhookDeliveriesForEvents: OnSequenced = async (em: EntityManager, first, last) => {
  if ((await checkForEndpoints(em, []))[0]?.some) await insertDeliveries(em, [first, last]);
};
