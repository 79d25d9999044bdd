import { z } from 'zod';
import { findApplicationsOfConnectedApps } from '../../../grants/connected-app-response.ts';
import { sendPage } from '../../routing/page-context.ts';
import { orderPage, ordersPage } from '../../views/account/orders-pages.ts';
import type { AccountRequest } from './signed-in-page-guards.ts';

const ordersPerPage = 20;

const orderId = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);

/** Handles `GET /account/orders`. */
export async function showOrders({ context, req, res, account }: AccountRequest): Promise<void> {
  const { data: olderThan } = orderId.safeParse(req.query['older_than']);
  const found = await context.orders.list(context.em, account.id, { olderThan, limit: ordersPerPage + 1 });
  const orders = found.slice(0, ordersPerPage);
  const hasOlderOrders = found.length > ordersPerPage;
  sendPage(context, res, ordersPage(context.settings, { orders, isFirstPage: olderThan === undefined, hasOlderOrders }));
}

/** Handles `GET /account/orders/:order`. */
export async function showOrder({ context, req, res, account }: AccountRequest): Promise<void> {
  const { data: id } = orderId.safeParse(req.params['order']);
  const order = id === undefined ? undefined : await context.orders.find(context.em, account.id, id);
  if (!order) return res.redirect(303, '/account/orders');
  const { client_id: clientId } = order;
  const applications = clientId === null ? undefined : await findApplicationsOfConnectedApps(context.em, [{ clientId }]);
  return sendPage(context, res, orderPage(context.settings, order, applications?.get(clientId ?? '')?.name));
}
