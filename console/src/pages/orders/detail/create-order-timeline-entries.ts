import type { Event, Order } from '@mandate/client-sdk';
import type { Format } from '../../../languages/use-format.ts';
import type { OrdersTranslate } from '../use-orders-translations.ts';
import type { OrderParts } from './order-queries-and-possible-actions.ts';

export type TimelineEntry = { readonly key: string; readonly at: string; readonly text: string; readonly detail?: string | undefined };

/**
 * Creates the timeline of an order, newest entry first. The timeline contains the order's changes (from its events), payments, refunds and
 * shipments. Status changes come from the order's timestamps, because events are stored only for a limited time.
 */
export function createOrderTimelineEntries(
  order: Order,
  parts: OrderParts,
  events: readonly Event[],
  t: OrdersTranslate,
  format: Format,
): TimelineEntry[] {
  return [
    ...listStatusEntries(order, t),
    ...listEditEntries(events, t),
    ...listPaymentEntries(parts, t, format),
    ...listShipmentEntries(parts, t),
  ].toSorted((a, b) => b.at.localeCompare(a.at));
}

function listStatusEntries(order: Order, t: OrdersTranslate): TimelineEntry[] {
  const timestamps = { created: order.created_at, paid: order.paid_at, delivered: order.delivered_at, canceled: order.canceled_at };
  const reason = order.cancel_reason === null ? undefined : t.value('cancelReason', order.cancel_reason);
  return (['created', 'paid', 'delivered', 'canceled'] as const).flatMap((change) => {
    const at = timestamps[change];
    return at === null ? [] : [{ key: change, at, text: t(`timeline.${change}`), detail: change === 'canceled' ? reason : undefined }];
  });
}

const editableFields = ['note', 'reference', 'delivery'] as const;

/**
 * An update event contains the order after the change. To find the changed fields, this function compares the order with the one in the
 * previous event.
 */
function listEditEntries(events: readonly Event[], t: OrdersTranslate): TimelineEntry[] {
  return events.flatMap(({ id, type, timestamp, data }, index) => {
    const before = events[index - 1]?.data.object;
    if (type !== 'order.updated' || before === undefined) return [];
    const changed = editableFields.filter(
      (name) => JSON.stringify(readField(before, name)) !== JSON.stringify(readField(data.object, name)),
    );
    return changed.map((name) => ({ key: `${id} ${name}`, at: timestamp, text: t(`timeline.changed.${name}`) }));
  });
}

const readField = (object: object, name: string): unknown => new Map(Object.entries(object)).get(name);

function listPaymentEntries({ payments = [], refunds = [] }: OrderParts, t: OrdersTranslate, format: Format): TimelineEntry[] {
  return [
    ...payments
      .filter(({ status }) => status === 'failed')
      .map(({ id, updated_at: at, failure_message: message }) => ({
        key: `payment ${id}`,
        at,
        text: t('timeline.paymentFailed'),
        detail: message ?? undefined,
      })),
    ...refunds
      .filter(({ status }) => status === 'succeeded')
      .map(({ id, amount, currency, created_at: at, reason }) => ({
        key: `refund ${id}`,
        at,
        text: t('timeline.refunded', { amount: format.money(amount, currency) }),
        detail: t.value('refundReason', reason),
      })),
  ];
}

function listShipmentEntries({ shipments = [] }: OrderParts, t: OrdersTranslate): TimelineEntry[] {
  return shipments
    .filter(({ shipped_at }) => shipped_at !== null)
    .map(({ id, shipped_at, created_at, carrier, tracking_number, items }) => ({
      key: `shipment ${id}`,
      at: shipped_at ?? created_at,
      text: t('timeline.shipped', { count: items.reduce((sum, { quantity }) => sum + quantity, 0) }),
      detail: [carrier, tracking_number].filter((part) => part !== null).join(' ') || undefined,
    }));
}
