import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { DeliveryMethod } from './delivery-method.entity.ts';

/**
 * Returns the currencies of the delivery methods. Orders can be placed only in these currencies, because every order requires a delivery
 * method in the order's currency.
 */
export async function listDeliveryCurrencies(em: EntityManager): Promise<string[]> {
  const methods = await em.find(DeliveryMethod, { active: true }, { fields: ['currency'], disableIdentityMap: true });
  return [...new Set(methods.map(({ currency }) => currency))].toSorted();
}
