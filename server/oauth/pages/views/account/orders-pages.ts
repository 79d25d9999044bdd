import type { Order, OrderSummary } from '@mandate/contract';
import { html, type Html } from '../../../../http/response/html-template.ts';
import { approvalList, type ShownApproval } from './approval-pages.ts';
import { formatDate, formatMoney, formatTimestamp } from '../format-time-and-money.ts';
import { liveRegion } from '../live-region.ts';
import type { PageSettings } from '../page-layout-and-form-fields.ts';
import { renderAccountSubpage } from './account-pages.ts';

/** Renders orders as a list of links. */
export const orderList = (settings: PageSettings, orders: readonly OrderSummary[]): Html =>
  html`<ul class="menu">
    ${orders.map(
      (order) =>
        html`<li>
          <a href="/account/orders/${order.id}">
            <span>
              ${settings.messages.orders.order({ id: String(order.id) })}
              <small>${formatDate(settings, new Date(order.created_at))}, ${describeOrderState(settings, order)}</small>
            </span>
            <span class="amount">${formatMoney(settings, order.total, order.currency)}</span>
          </a>
        </li>`,
    )}
  </ul>`;

type OrdersPageViewModel = {
  readonly orders: readonly OrderSummary[];
  /** Requests that wait for the customer's decision. */
  readonly requests: readonly ShownApproval[];
  /** Path with which the page script waits for changes. */
  readonly livePath: string;
  /** Whether the list starts with the newest order. */
  readonly isFirstPage: boolean;
  readonly hasOlderOrders: boolean;
};

export function ordersPage(settings: PageSettings, content: OrdersPageViewModel): Html {
  const { orders, requests, livePath, isFirstPage, hasOlderOrders } = content;
  const { orders: messages } = settings.messages;
  const list = html`${requests.length > 0 && approvalList(settings, requests)}
  ${orders.length === 0 ? html`<p>${messages.none}</p>` : orderList(settings, orders)}
  ${!isFirstPage && html`<p class="elsewhere"><a href="/account/orders">${messages.newest}</a></p>`}
  ${hasOlderOrders && html`<p class="elsewhere"><a href="/account/orders?older_than=${String(orders.at(-1)?.id)}">${messages.older}</a></p>`}`;
  return renderAccountSubpage({ ...settings, isWide: true }, messages.title, liveRegion(settings, livePath, list));
}

type OrderPageContext = {
  /** Name of the application that placed the order, if an application placed it. */
  readonly application: string | undefined;
  /** Path with which the page script waits for changes. */
  readonly livePath: string;
};

/** Renders one order. */
export function orderPage(settings: PageSettings, order: Order, { application, livePath }: OrderPageContext): Html {
  const { orders: messages } = settings.messages;
  const facts = [
    [messages.state, describeOrderState(settings, order)],
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
    ${linesAndTotals(settings, order)}${deliverySection(settings, order)}`;
  const back = { path: '/account/orders', text: messages.title };
  return renderAccountSubpage(
    { ...settings, isWide: true },
    messages.order({ id: String(order.id) }),
    liveRegion(settings, livePath, content),
    [],
    back,
  );
}

function linesAndTotals(settings: PageSettings, order: Order): Html {
  const { orders: messages } = settings.messages;
  const money = (amount: number): string => formatMoney(settings, amount, order.currency);
  const totals = [
    [messages.subtotal, money(order.subtotal)],
    ...(order.discount_total > 0 ? [[messages.discount, money(-order.discount_total)]] : []),
    [messages.shipping, money(order.shipping_total)],
    [order.tax_mode === 'inclusive' ? messages.taxIncluded : messages.tax, money(order.tax_total)],
  ];
  return html`<table class="lines">
    <thead>
      <tr>
        <th scope="col">${messages.product}</th>
        <th scope="col">${messages.amount}</th>
      </tr>
    </thead>
    <tbody>
      ${order.items.map(
        ({ name, quantity, unit_price: price, total }) =>
          html`<tr>
            <td>${name}<small>${messages.quantity({ quantity, price: money(price) })}</small></td>
            <td>${money(total)}</td>
          </tr>`,
      )}
    </tbody>
    <tfoot>
      ${totals.map(([term, amount]) => totalRow(term, amount))}
      <tr class="total">
        <th scope="row">${messages.total}</th>
        <td>${money(order.total)}</td>
      </tr>
      ${order.refunded_total > 0 && totalRow(messages.refunded, money(order.refunded_total))}
    </tfoot>
  </table>`;
}

const totalRow = (term: string | undefined, amount: string | undefined): Html =>
  html`<tr>
    <th scope="row">${term}</th>
    <td>${amount}</td>
  </tr>`;

function deliverySection({ messages: { language, orders } }: PageSettings, { delivery, note }: Order): Html {
  const { recipient_name: name, line1, line2, postal_code: code, city, region, country, phone } = delivery;
  const lines = [
    name,
    line1,
    line2,
    [code, city].filter(Boolean).join(' '),
    region,
    country && formatCountry(language.tag, country),
    phone,
  ];
  return html`<section>
    <h2>${orders.delivery}</h2>
    <p>${lines.filter((line) => line !== undefined && line !== '').map((line) => html`${line}<br />`)}</p>
    ${note !== null && html`<p class="quiet">${note}</p>`}
  </section>`;
}

/** Returns the name of a country, or its code if the code is not assigned. */
const formatCountry = (languageTag: string, code: string): string =>
  new Intl.DisplayNames(languageTag, { type: 'region', fallback: 'code' }).of(code) ?? code;

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
