import type { Order } from '@mandate/contract';
import { formatAddressLines } from '@mandate/contract/addresses';
import { html, type Html } from '../../../../http/response/html-template.ts';
import { formatMoney } from '../format-time-and-money.ts';
import type { PageSettings } from '../page-layout-and-form-fields.ts';

/** Lines and amounts of an order or a quote. Amounts are in minor units of the currency. */
export type OrderAmounts = {
  readonly currency: string;
  readonly lines: readonly { readonly name: string; readonly quantity: number; readonly unit_price: number; readonly total: number }[];
  readonly subtotal: number;
  readonly discount: number;
  readonly shipping: number;
  readonly tax: number;
  readonly taxMode: Order['tax_mode'];
  readonly total: number;
  readonly refunded: number;
};

/** Renders the lines and the amounts of an order as a table, with the total. */
export function orderLinesTable(settings: PageSettings, amounts: OrderAmounts): Html {
  const { orders: messages } = settings.messages;
  const money = (amount: number): string => formatMoney(settings, amount, amounts.currency);
  const { subtotal, discount, shipping, tax, total, refunded } = amounts;
  const isTaxIncluded = amounts.taxMode === 'inclusive';
  return html`<table class="lines">
    <thead>
      <tr>
        <th scope="col">${messages.product}</th>
        <th scope="col">${messages.amount}</th>
      </tr>
    </thead>
    <tbody>
      ${amounts.lines.map(
        (line) =>
          html`<tr>
            <td>${line.name}<small>${messages.quantity({ quantity: line.quantity, price: money(line.unit_price) })}</small></td>
            <td>${money(line.total)}</td>
          </tr>`,
      )}
    </tbody>
    <tfoot>
      ${amountRow(messages.subtotal, money(subtotal))} ${discount > 0 && amountRow(messages.discount, money(-discount))}
      ${amountRow(messages.shipping, money(shipping))} ${!isTaxIncluded && amountRow(messages.tax, money(tax))}
      <tr class="total">
        <th scope="row">${messages.total}</th>
        <td>${money(total)}</td>
      </tr>
      ${isTaxIncluded && amountRow(messages.taxIncluded, money(tax))} ${refunded > 0 && amountRow(messages.refunded, money(refunded))}
    </tfoot>
  </table>`;
}

const amountRow = (term: string, amount: string): Html =>
  html`<tr>
    <th scope="row">${term}</th>
    <td>${amount}</td>
  </tr>`;

/** Renders the section with the delivery address and the note. */
export const orderDeliveryAddressAndNoteSection = (
  settings: PageSettings,
  { delivery, note }: { readonly delivery: Order['delivery']; readonly note: string | null },
): Html =>
  html`<section>
    <h2>${settings.messages.orders.delivery}</h2>
    <p>${formatAddressLines(delivery, settings.messages.language.tag).map((line) => html`${line}<br />`)}</p>
    ${note !== null && html`<p class="quiet">${settings.messages.orders.note({ note })}</p>`}
  </section>`;
