import type { EventType, EventTypeFilter } from '@mandate/client-sdk/webhooks';

/** Event types by subject. The code does not compile if a type from the contract is missing. */
const typeNames: Record<EventType, true> = {
  'user.created': true,
  'user.updated': true,
  'user.suspended': true,
  'user.reactivated': true,
  'user.closed': true,
  'product.created': true,
  'product.updated': true,
  'product.archived': true,
  'product.deleted': true,
  'product.stock_changed': true,
  'product.out_of_stock': true,
  'product.back_in_stock': true,
  'order.created': true,
  'order.updated': true,
  'order.paid': true,
  'order.shipped': true,
  'order.delivered': true,
  'order.canceled': true,
  'order.refunded': true,
  'quote.created': true,
  'quote.converted': true,
  'quote.canceled': true,
  'quote.expired': true,
  'approval.requested': true,
  'approval.approved': true,
  'approval.declined': true,
  'approval.canceled': true,
  'approval.expired': true,
  'approval.used': true,
  'payment.created': true,
  'payment.requires_action': true,
  'payment.succeeded': true,
  'payment.failed': true,
  'payment.canceled': true,
  'refund.created': true,
  'refund.succeeded': true,
  'refund.failed': true,
  'shipment.created': true,
  'shipment.shipped': true,
  'shipment.delivered': true,
  'shipment.failed': true,
  'shipment.canceled': true,
  'task.succeeded': true,
  'task.failed': true,
  'task.canceled': true,
  'grant.created': true,
  'grant.updated': true,
  'grant.revoked': true,
  'webhook_endpoint.test': true,
  'webhook_endpoint.disabled': true,
};

const isKnown = (type: string): type is EventType => Object.hasOwn(typeNames, type);

/** All event types, in the order of the contract. */
export const eventTypes: readonly EventType[] = Object.keys(typeNames).filter(isKnown);

/** Types of the resources that events describe, such as `order`. */
export const eventSubjects: readonly string[] = [...new Set(eventTypes.map((type) => type.split('.')[0] ?? type))];

/** Returns the filter for all events about a type of resource, or `undefined` if `subject` is not a known type. */
export const eventTypeFilterFromSubject = (subject: string): EventTypeFilter | undefined =>
  subjectFilters.find((filter) => filter === `${subject}.*`);
const subjectFilters = [
  'user.*',
  'product.*',
  'order.*',
  'quote.*',
  'approval.*',
  'payment.*',
  'refund.*',
  'shipment.*',
  'task.*',
  'grant.*',
] as const;
