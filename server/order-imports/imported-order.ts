import { sha256 } from '../crypto/sha256.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import type { OrderImportParams } from './order-import-parameters.ts';
import type { ImportedOrderHead, ImportedOrderLine } from './parse-order-row.ts';

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
  /** The keys of the order's customer in the source. */
  readonly customers: readonly string[];
  readonly lines: readonly ImportedOrderLine[];
};

const findFingerprint = prepareStatement<{ order_id: number; fingerprint: string | null }>(
  'find_imported_fingerprint',
  'select order_id, fingerprint from imported_orders where source = $1 and reference = $2',
);
const findOrder = prepareStatement<ImportedOrderState>(
  'find_imported_order',
  `select i.order_id, i.fingerprint, o.status, o.currency, (extract(epoch from o.created_at) * 1000)::bigint as created_ms, o.shipping_total, o.discount_total,
          o.note, o.delivery, o.user_id,
          (select coalesce(jsonb_agg(c.key), '[]') from imported_customers c where c.source = i.source and c.user_id = o.user_id) as customers,
          (select jsonb_agg(jsonb_build_object('sku', l.sku, 'name', l.name, 'quantity', l.quantity, 'unit_price', l.unit_price,
                                               'tax_rate_bps', l.tax_rate_bps) order by l.line)
             from order_items l where l.order_id = o.id) as lines
     from imported_orders i join orders o on o.id = i.order_id where i.source = $1 and i.reference = $2`,
);
const setFingerprint = prepareStatement(
  'set_imported_fingerprint',
  'update imported_orders set fingerprint = $3 where source = $1 and reference = $2',
);
// An order with payments, refunds or shipments in this system must not be replaced.
const lockReplaceable = prepareStatement<{ replaceable: boolean }>(
  'lock_replaceable_order',
  `select cancel_reason is null
          and not exists (select 1 from payments p where p.order_id = o.id)
          and not exists (select 1 from refunds r where r.order_id = o.id)
          and not exists (select 1 from shipments s where s.order_id = o.id) as replaceable
     from orders o where o.id = $1 for update`,
);

/** Returns the SHA-256 of all data that an import takes from an order's rows. */
export function computeOrderFingerprint(
  { user_id: userId }: OrderImportParams,
  head: ImportedOrderHead,
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

/** Finds an earlier import of the order from the same source. Returns `same` if the data are identical, otherwise the stored order. */
export async function findImportedOrder(
  em: EntityManager,
  { source }: OrderImportParams,
  { reference }: ImportedOrderHead,
  fingerprint: string,
): Promise<'new' | 'same' | ImportedOrderState> {
  const [found] = await findFingerprint(em, [source, reference]);
  if (!found) return 'new';
  if (found.fingerprint === fingerprint) return 'same';
  const [order] = await findOrder(em, [source, reference]);
  if (!order) throw new Error('an imported order does not exist');
  return order;
}

/** Stores the fingerprint of an order that was imported before fingerprints existed. */
export const storeOrderFingerprint = (
  em: EntityManager,
  { source }: OrderImportParams,
  { reference }: ImportedOrderHead,
  fingerprint: string,
): Promise<unknown> => setFingerprint(em, [source, reference, fingerprint]);

/** Locks an order and returns whether an import may replace its data. */
export async function lockOrderForReplacement(em: EntityManager, orderId: number): Promise<boolean> {
  const [order] = await lockReplaceable(em, [orderId]);
  return order?.replaceable ?? false;
}
