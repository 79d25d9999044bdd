import type { WebhookDelivery, WebhookEndpoint } from '@mandate/contract';
import { timestampToRfc3339, timestampToRfc3339OrNull } from '../../database/time/timestamp-to-rfc3339.ts';

export type EndpointRow = WebhookEndpoint;

/** Columns of an endpoint; the alias of the table is `e`. */
export const endpointColumnsSql = [
  'id',
  'url',
  'events',
  'description',
  'status',
  'disabled_reason',
  'client_id',
  'user_id',
  'scopes',
  'failing_since',
  'version',
  'created_at',
  'updated_at',
]
  .map((name) => `e.${name}`)
  .join(', ');

export const endpointFromRow = (row: EndpointRow): WebhookEndpoint => ({
  ...row,
  failing_since: timestampToRfc3339OrNull(row.failing_since),
  created_at: timestampToRfc3339(row.created_at),
  updated_at: timestampToRfc3339(row.updated_at),
});

export type DeliveryRow = Omit<WebhookDelivery, 'attempts'> & { seq: number; log: WebhookDelivery['attempts'] };

export const deliveryColumnsSql =
  'd.id, d.seq, d.seq as event_id, v.type as event_type, d.status, d.log, d.next_attempt_at, d.created_at, d.finished_at';

export const deliveryFromRow = ({ log, seq: _seq, ...row }: DeliveryRow): WebhookDelivery => ({
  ...row,
  attempts: log,
  next_attempt_at: row.status === 'pending' ? timestampToRfc3339OrNull(row.next_attempt_at) : null,
  created_at: timestampToRfc3339(row.created_at),
  finished_at: timestampToRfc3339OrNull(row.finished_at),
});

/** Returns the path of an endpoint. */
export const endpointLocation = (id: number): string => `/api/v1/webhook-endpoints/${id}`;
