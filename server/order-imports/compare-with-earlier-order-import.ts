import { LockMode } from '@mikro-orm/core';
import { sha256 } from '../crypto/sha256.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { Order, OrderItem } from '../orders/order-and-order-item.entity.ts';
import { Payment } from '../payments/payment.entity.ts';
import { Shipment } from '../shipments/shipment.entity.ts';
import { ImportedCustomerReference, ImportedOrderReference } from './imported-order-and-customer-reference.entity.ts';
import type { OrderImportParams } from './order-import-parameters.ts';
import type { ImportedOrderFields, ImportedOrderLine } from './parse-order-row.ts';

/** An order that was imported earlier from the same source, in its current state. */
export type ImportedOrderState = {
  readonly order_id: number;
  /** `null` if the order was imported before fingerprints were stored. */
  readonly fingerprint: string | null;
  readonly status: string;
  readonly currency: string;
  /** Milliseconds since the Unix epoch. */
  readonly created_ms: number;
  readonly shipping_total: number;
  readonly discount_total: number;
  readonly note: string | null;
  readonly delivery: Readonly<Record<string, unknown>>;
  readonly user_id: number;
  /** Keys that identify the order's customer in the import source. */
  readonly customers: readonly string[];
  readonly lines: readonly ImportedOrderLine[];
};

/** Returns the SHA-256 hash of all data that an import takes from an order's rows. */
export function computeOrderFingerprint(
  { user_id: userId }: OrderImportParams,
  head: ImportedOrderFields,
  lines: readonly ImportedOrderLine[],
): string {
  const user = head.customer === undefined && head.customer_email === undefined ? userId : undefined;
  const text = JSON.stringify([sortedEntries({ ...head, delivery: sortedEntries(head.delivery), user }), lines.map(sortedEntries)]);
  return sha256(text, 'hex');
}

const sortedEntries = (value: object): [string, unknown][] =>
  Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));

/**
 * Compares an order with its earlier import from the same source. Returns `new` if there is no earlier import, `same` if the data is
 * identical, and the stored order otherwise.
 */
export async function compareOrderWithEarlierImport(
  em: EntityManager,
  { source }: OrderImportParams,
  { reference }: ImportedOrderFields,
  fingerprint: string,
): Promise<'new' | 'same' | ImportedOrderState> {
  const found = await em.findOne(ImportedOrderReference, { source, reference }, { disableIdentityMap: true });
  if (!found) return 'new';
  return found.fingerprint === fingerprint ? 'same' : readOrderState(em, source, found.order, found.fingerprint ?? null);
}

async function readOrderState(em: EntityManager, source: string, orderId: number, fingerprint: string | null): Promise<ImportedOrderState> {
  const order = await em.findOneOrFail(Order, { id: orderId }, { disableIdentityMap: true });
  const userId = order.user.id;
  const customers = await em.find(ImportedCustomerReference, { source, user: userId }, { disableIdentityMap: true });
  const items = await em.find(OrderItem, { order: orderId }, { orderBy: { line: 'asc' }, disableIdentityMap: true });
  return {
    order_id: orderId,
    fingerprint,
    status: order.status,
    currency: order.currency,
    created_ms: order.createdAt.getTime(),
    shipping_total: order.shippingTotal,
    discount_total: order.discountTotal,
    note: order.note ?? null,
    delivery: order.delivery,
    user_id: userId,
    customers: customers.map(({ key }) => key),
    lines: items.map(({ sku, name, quantity, unitPrice, taxRateBps }) => ({
      sku,
      name,
      quantity,
      unit_price: unitPrice,
      tax_rate_bps: taxRateBps,
    })),
  };
}

/** Stores the fingerprint of an order that was imported before fingerprints existed. */
export const addFingerprintToEarlierImportedOrder = (
  em: EntityManager,
  { source }: OrderImportParams,
  { reference }: ImportedOrderFields,
  fingerprint: string,
): Promise<unknown> => em.nativeUpdate(ImportedOrderReference, { source, reference }, { fingerprint });

/**
 * Locks an order and returns whether an import may replace its data. An import may replace the data only if, in this system, the order has
 * not been canceled and has no payments (and therefore no refunds) and no shipments.
 */
export async function lockOrderAndCheckIfReplaceable(em: EntityManager, orderId: number): Promise<boolean> {
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE, disableIdentityMap: true } as const;
  const order = await em.findOne(Order, { id: orderId }, locked);
  if (order?.cancelReason !== null) return false;
  return (await em.count(Payment, { order: orderId })) === 0 && (await em.count(Shipment, { order: orderId })) === 0;
}
