import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';

/** The columns that this module reads. The order entity cannot be imported, because its folder belongs to a higher layer. */
type OrderTable = { readonly orders: { readonly id: number; readonly user_id: number; readonly status: string } };

/** Returns whether a user has an order that is neither delivered nor canceled. */
export async function hasOpenOrders(em: EntityManager, userId: number): Promise<boolean> {
  const orders = em.getKysely<OrderTable>().selectFrom('orders').select('id').where('user_id', '=', userId);
  return (await orders.where('status', 'in', ['pending', 'paid', 'shipped']).limit(1).execute()).length > 0;
}
