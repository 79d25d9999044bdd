import { z } from 'zod';
import { findApplicationsOfConnectedApps } from '../../../grants/connected-app-response-and-applications.ts';
import { sendPage } from '../../routing/page-context.ts';
import { orderPage, ordersPage } from '../../views/account/orders-pages.ts';
import { readOrLongPollContent } from './read-or-long-poll-content.ts';
import { createLongPolledOrdersAndApprovalsSource } from './create-long-polled-orders-and-approvals-source.ts';
import type { AccountRequest } from './signed-in-page-guards.ts';

const ordersPerPage = 20;

const orderId = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);

/** Handles `GET /account/orders`. */
export async function showOrders(request: AccountRequest): Promise<void> {
  const { context, req, res } = request;
  const { data: olderThan } = orderId.safeParse(req.query['older_than']);
  const path = `/account/orders${olderThan === undefined ? '' : `?older_than=${olderThan}`}`;
  const content = createLongPolledOrdersAndApprovalsSource(request, { olderThan, limit: ordersPerPage });
  const { shown, livePath } = await readOrLongPollContent(request, path, content);
  const isFirstPage = olderThan === undefined;
  const html = ordersPage(context.settings, {
    orders: shown.orders.slice(0, ordersPerPage),
    requests: isFirstPage ? shown.requests : [],
    livePath,
    isFirstPage,
    hasOlderOrders: shown.orders.length > ordersPerPage,
  });
  sendPage(context, res, html, { isLive: true });
}

/** Handles `GET /account/orders/:order`. */
export async function showOrder(request: AccountRequest): Promise<void> {
  const { context, req, res, account } = request;
  const { data: id = 0 } = orderId.safeParse(req.params['order']);
  const read = () => context.orders.find(context.em, account.id, id);
  const { shown: order, livePath } = await readOrLongPollContent(request, `/account/orders/${id}`, {
    read,
    identify: (found) => found ?? null,
  });
  if (!order) return res.redirect(303, '/account/orders');
  const { client_id: clientId } = order;
  const applications = clientId === null ? undefined : await findApplicationsOfConnectedApps(context.em, [{ clientId }]);
  const html = orderPage(context.settings, order, { application: applications?.get(clientId ?? '')?.name, livePath });
  return sendPage(context, res, html, { isLive: true });
}
