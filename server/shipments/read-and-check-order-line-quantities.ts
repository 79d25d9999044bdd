import type { LineQuantity } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { OrderItem } from '../orders/order-and-order-item.entity.ts';
import { createInvalidRequestProblem, createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { Shipment } from './shipment.entity.ts';

type LineProgress = {
  readonly line: number;
  readonly quantity: number;
  readonly shipped: number;
  /** Units in shipments that have not been shipped yet. */
  readonly packed: number;
  readonly restocked: number;
};

/** Returns the shipped, packed and restocked quantities of each line of a locked order. */
export async function readShippedPackedAndRestockedQuantities(em: EntityManager, orderId: number): Promise<LineProgress[]> {
  const lines = await em.find(OrderItem, { order: orderId }, { orderBy: { line: 'asc' }, disableIdentityMap: true });
  const pending = await em.find(Shipment, { order: orderId, status: 'pending' }, { disableIdentityMap: true });
  const packed = new Map(addUpQuantitiesPerLine(pending.flatMap(({ items }) => items)).map(({ line, quantity }) => [line, quantity]));
  return lines.map(({ line, quantity, shippedQuantity: shipped, restockedQuantity: restocked }) => ({
    line,
    quantity,
    shipped,
    packed: packed.get(line) ?? 0,
    restocked,
  }));
}

/** Returns the number of a line's units that can still be packed. */
export const calculateShippableQuantity = ({ quantity, shipped, packed, restocked }: LineProgress): number =>
  Math.max(0, quantity - shipped - packed - restocked);

/** Merges entries for the same line by adding their quantities. */
export const addUpQuantitiesPerLine = (lines: readonly LineQuantity[]): LineQuantity[] =>
  [...Map.groupBy(lines, ({ line }) => line)].map(([line, group]) => ({
    line,
    quantity: group.reduce((sum, { quantity }) => sum + quantity, 0),
  }));

/** Rejects lines that are not part of the order, and quantities that exceed the available quantity. */
export function assertLineQuantitiesAvailable(
  field: 'items' | 'restock',
  requested: readonly LineQuantity[],
  available: ReadonlyMap<number, number>,
): void {
  const at = { in: 'body', pointer: `#/${field}` } as const;
  const unknown = requested.filter(({ line }) => !available.has(line));
  if (unknown.length > 0) {
    const entries = unknown.slice(0, 50);
    throw createInvalidRequestProblem(
      ...entries.map(({ line }) => ({ ...at, code: 'unknown_reference', detail: translatable`The order has no line ${{ line }}.` })),
    );
  }
  const exceeded = requested.filter(({ line, quantity }) => quantity > (available.get(line) ?? 0));
  if (exceeded.length === 0) return;
  throw createProblem('quantity_exceeded', {
    detail: translatable`${{ count: exceeded.length }} lines request more units than are available.`,
    errors: exceeded.slice(0, 50).map(({ line, quantity }) => ({
      ...at,
      code: 'out_of_range',
      detail: translatable`Only ${{ available: available.get(line) ?? 0 }} units are available for line ${{ line }}.`,
      requested: quantity,
      available: available.get(line) ?? 0,
    })),
  });
}
