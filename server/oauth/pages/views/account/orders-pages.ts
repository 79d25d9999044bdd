import type { Order, OrderSummary } from '@mandate/contract';
import { html, type Html } from '../../../../http/response/html-template.ts';
import { renderApprovalList, type ShownApproval } from './approval-pages.ts';
import { formatDateInUserTimeZone, formatMoney, formatTimestamp } from '../format-time-and-money.ts';
import { renderLongPolledContent } from '../render-long-polled-content.ts';
import { orderDeliveryAddressAndNoteSection, orderLinesTable, type OrderAmounts } from './order-lines-and-address.ts';
import { statusBadge, type StatusKind } from '../status-badge.ts';
import { linkButton, type PageSettings } from '../page-layout-and-form-fields.ts';
import { renderAccountSubpage } from './account-subpage-layout-and-basic-forms.ts';

const orderStatusKinds: Record<OrderSummary['status'], StatusKind> = {
  pending: 'waiting',
  paid: 'good',
  shipped: 'good',
  delivered: 'good',
  canceled: 'neutral',
};

/** Renders orders as a list of links. */
export const renderOrderList = (settings: PageSettings, orders: readonly OrderSummary[]): Html =>
  html`<ul class="menu">
    ${orders.map(
      (order) =>
        html`<li>
          <a href="/account/orders/${order.id}">
            <span>
              ${settings.messages.orders.order({ id: String(order.id) })}
              <small>${formatDateInUserTimeZone(settings, new Date(order.created_at))}</small>
              <small>${orderStateBadge(settings, order)}</small>
            </span>
            <span class="amount">${formatMoney(settings, order.total, order.currency)}</span>
          </a>
        </li>`,
    )}
  </ul>`;

type OrdersPageViewModel = {
  readonly orders: readonly OrderSummary[];
  /** Approvals that are waiting for the customer's decision. */
  readonly requests: readonly ShownApproval[];
  /** Path that the page script requests to wait for changes. */
  readonly livePath: string;
  /** Whether the list starts with the newest order. */
  readonly isFirstPage: boolean;
  readonly hasOlderOrders: boolean;
};

export function ordersPage(settings: PageSettings, content: OrdersPageViewModel): Html {
  const { orders, requests, livePath, isFirstPage, hasOlderOrders } = content;
  const { orders: messages } = settings.messages;
  const list = html`${requests.length > 0 && renderApprovalList(settings, requests)}
  ${orders.length === 0 ? noOrders(settings) : renderOrderList(settings, orders)}
  ${!isFirstPage && html`<p class="elsewhere"><a href="/account/orders">${messages.newest}</a></p>`}
  ${hasOlderOrders && html`<p class="elsewhere"><a href="/account/orders?older_than=${String(orders.at(-1)?.id)}">${messages.older}</a></p>`}`;
  return renderAccountSubpage({ ...settings, isWide: true }, messages.title, renderLongPolledContent(settings, livePath, list));
}

const noOrders = ({ shop, messages: { orders, accountMenu } }: PageSettings): Html =>
  html`<p>${orders.none} ${orders.whereFrom({ shop: shop.name })}</p>
    ${linkButton('/account/apps', accountMenu.apps, 'second')}`;

type OrderPageContext = {
  /** Name of the application that placed the order, if any. */
  readonly application: string | undefined;
  /** Path that the page script requests to wait for changes. */
  readonly livePath: string;
};

/** Renders one order. */
export function orderPage(settings: PageSettings, order: Order, { application, livePath }: OrderPageContext): Html {
  const { orders: messages } = settings.messages;
  const facts = [
    [messages.state, orderStateBadge(settings, order)],
    [messages.placed, formatTimestamp(settings, new Date(order.created_at))],
    ...(application === undefined ? [] : [[messages.application, application]]),
    ...(order.reference === null ? [] : [[messages.reference, order.reference]]),
  ];
  const content = html`<dl class="pairs">
      ${facts.map(
        ([term, description]) =>
          html`<div>
            <dt>${term}</dt>
            <dd>${description}</dd>
          </div>`,
      )}
    </dl>
    ${orderLinesTable(settings, orderAmounts(order))}${orderDeliveryAddressAndNoteSection(settings, order)}`;
  const back = { path: '/account/orders', text: messages.title };
  return renderAccountSubpage(
    { ...settings, isWide: true },
    messages.order({ id: String(order.id) }),
    renderLongPolledContent(settings, livePath, content),
    [],
    back,
  );
}

const orderAmounts = (order: Order): OrderAmounts => ({
  currency: order.currency,
  lines: order.items,
  subtotal: order.subtotal,
  discount: order.discount_total,
  shipping: order.shipping_total,
  tax: order.tax_total,
  taxMode: order.tax_mode,
  total: order.total,
  refunded: order.refunded_total,
});

const orderStateBadge = (settings: PageSettings, order: OrderSummary): Html =>
  statusBadge(describeOrderState(settings, order), orderStatusKinds[order.status]);

/** Returns the state of an order in words, such as “Paid, partly shipped”. */
function describeOrderState({ messages: { orders } }: PageSettings, order: OrderSummary): string {
  const { status, payment_status: payment, fulfillment_status: fulfillment } = order;
  const parts = [
    orders.status[status],
    ...(fulfillment === 'partial' ? [orders.partlyShipped] : []),
    ...(payment === 'refunded' || payment === 'partially_refunded' ? [orders.payment[payment]] : []),
  ];
  return parts.join(', ');
}
