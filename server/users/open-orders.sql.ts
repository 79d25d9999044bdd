import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';

// Written in SQL, because the order entity's folder is in a higher layer.
const findOpenOrder = prepareStatement(
  'find_open_order',
  `select 1 from orders where user_id = $1 and status in ('pending', 'paid', 'shipped') limit 1`,
);

/** Returns whether a user has an order that is neither delivered nor canceled. */
export const hasOpenOrders = async (em: EntityManager, userId: number): Promise<boolean> => (await findOpenOrder(em, [userId])).length > 0;
