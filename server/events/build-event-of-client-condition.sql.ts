import { eventSubjectDefinitions } from '@mandate/contract';

const orderIds = Object.entries(eventSubjectDefinitions).flatMap(([subject, { orderId }]) =>
  orderId === null ? [] : [{ subject, orderId }],
);

/**
 * Returns the SQL condition for the events (alias `v`) that a client may see. An event about an order (or its payments, refunds or
 * shipments) matches if the client placed the order. An event about a quote or an approval matches if the client requested it, but not if
 * another client placed an order from the quote. An event about an order export or import matches if the task was restricted to the
 * client's orders. All other events match.
 * @param clientIdColumn name of the column with the client ID. The name becomes part of the SQL text, so it must never come from user
 * input.
 */
export const buildEventOfClientConditionSql = (clientIdColumn: string): string => `case
  ${orderIds
    .map(
      ({ subject, orderId }) =>
        `when v.subject_type = '${subject}' then exists (
          select 1 from orders o where o.id = (v.data ->> '${orderId}')::bigint and o.client_id = ${clientIdColumn})`,
    )
    .join(' ')}
  when v.subject_type = 'quote' then v.data ->> 'client_id' = ${clientIdColumn} and (v.data ->> 'order_id' is null or exists (
    select 1 from orders o where o.id = (v.data ->> 'order_id')::bigint and o.client_id = ${clientIdColumn}))
  when v.subject_type = 'approval' then v.data ->> 'client_id' = ${clientIdColumn}
  when v.subject_type = 'task' then exists (
    select 1 from tasks t where t.id = v.subject_id
       and (t.type not in ('order_export', 'order_import') or t.params ->> 'required_client_id' = ${clientIdColumn}))
  else true end`;
