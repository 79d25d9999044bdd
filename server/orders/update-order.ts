import type { OrderUpdate } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { canUseScope } from '../http/middleware/authorize-by-scope.ts';
import { applyMetadataMergePatch } from '../http/writes/apply-metadata-merge-patch.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { createInvalidRequestProblem, createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { DeliveryMethod } from '../delivery-methods/delivery-method.entity.ts';
import type { Order } from './order-and-order-item.entity.ts';

/** Applies a merge patch (RFC 7396) to a locked order. */
export async function updateOrder(
  em: EntityManager,
  principal: Principal,
  order: Order,
  { delivery, metadata, ...fields }: OrderUpdate,
): Promise<void> {
  if (delivery !== undefined) {
    assertDeliveryChangeable(principal, order);
    await assertDeliveryValid(em, order, delivery);
    order.delivery = delivery;
  }
  if (metadata !== undefined) order.metadata = applyMetadataMergePatch(order.metadata, metadata);
  Object.assign(order, Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)));
  await em.flush();
}

/** Customers can change the delivery until the order is paid. Staff can change the delivery until any item has been shipped. */
function assertDeliveryChangeable(principal: Principal, order: Order): void {
  const untilShipped = order.status === 'paid' && order.fulfillmentStatus === 'unfulfilled' && canUseScope(principal, 'orders.manage');
  if (order.status === 'pending' || untilShipped) return;
  throw createProblem('invalid_transition', {
    detail: translatable`The order is ${{ status: order.status }}, so its delivery can no longer be changed.`,
  });
}

async function assertDeliveryValid(em: EntityManager, order: Order, delivery: NonNullable<OrderUpdate['delivery']>): Promise<void> {
  const method = await em.findOne(DeliveryMethod, { code: delivery.method });
  const kept = delivery.method === order.delivery.method;
  if (!kept && !method?.active) {
    throw createInvalidRequestProblem({
      in: 'body',
      pointer: '#/delivery/method',
      code: 'unknown_reference',
      detail: 'There is no such delivery method.',
    });
  }
  if (!kept && (method?.price !== order.shippingTotal || method.currency !== order.currency)) {
    throw createProblem('price_changed', {
      detail: 'This delivery method has a different price. To use it, cancel the order and place a new one.',
    });
  }
  const missing = method?.requiresAddress ? (['line1', 'city', 'country'] as const).filter((field) => delivery[field] === undefined) : [];
  if (missing.length === 0) return;
  throw createInvalidRequestProblem(
    ...missing.map((field) => ({
      in: 'body' as const,
      pointer: `#/delivery/${field}`,
      code: 'required',
      detail: 'This delivery method requires an address.',
    })),
  );
}
