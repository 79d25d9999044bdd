import {
  budgetPeriods,
  orderAccessLevels,
  orderActionsInAuthorizationDetails,
  orderApprovalModes,
  type EffectiveOrderLimits,
  type OrderSpendingLimits,
} from '@mandate/contract';
import { html, type Html } from '../../../http/response/html-template.ts';
import { describeLimitAmountsAndEndDate, type OrderLimitsForm } from './order-limits-form-and-amount-format.ts';
import { productCategoriesField } from './product-categories-field.ts';
import { hiddenField, renderPage, type FieldError, type PageSettings } from './page-layout-and-form-fields.ts';

export type OrderLimitsFieldsViewModel = {
  readonly applicationName: string;
  /** Whether the user can set limits; if false, the page only states which orders the application can access. */
  readonly isOffered: boolean;
  /** Limits that the user can lower but not raise, because the application requested them or an administrator set them. */
  readonly maximum: EffectiveOrderLimits | undefined;
  /** Whether the application requested the maximum; false if administrators set it. */
  readonly isRequested: boolean;
  /** Whether the form contains amounts when the page opens. */
  readonly isProposed: boolean;
  /** Limits that administrators set; present only on the page where the user changes the limits of a connected application. */
  readonly ceiling?: OrderSpendingLimits | undefined;
  /** Whether the user can let the application access all orders. */
  readonly canAllowAllOrders: boolean;
  /** Product categories that the user can select. */
  readonly categories: readonly string[];
  /** Currencies in which orders can be placed. */
  readonly currencies: readonly string[];
  readonly form: OrderLimitsForm;
  readonly faults: readonly FieldError[];
};

/** Renders the maximum limits in words, and the fields in which the user can lower these limits or set new ones. */
export function orderLimitsFields(settings: PageSettings, content: OrderLimitsFieldsViewModel): Html {
  const { orderLimits: messages } = settings.messages;
  const { isOffered, maximum, isRequested, isProposed, form, faults } = content;
  const orders = ordersField(settings, content);
  if (!isRequested && maximum?.limits === undefined && maximum?.products === undefined) {
    return html`${maximum && orders}
    ${
      isOffered &&
      html`<details class="limits" ${(faults.length > 0 || isProposed) && html`open`}>
        <summary>${messages.title}</summary>
        <p class="hint">${messages.none}</p>
        ${actionFields(settings, maximum, form)} ${inputFields(settings, content, !maximum && orders)}
      </details>`
    }`;
  }
  return html`<fieldset class="limits">
    <legend>${messages.title}</legend>
    <p>${maximum && describeMaximum(settings, content.applicationName, maximum, isRequested)}</p>
    ${isRequested && maximum?.orders === 'all' && html`<p>${messages.allOrdersText({ application: content.applicationName })}</p>`}
    <p class="hint">${messages.lower}</p>
    ${actionFields(settings, maximum, form)} ${inputFields(settings, content, orders)}
  </fieldset>`;
}

/** Renders the page on which a user changes the limits of a connected application. */
export function connectedAppLimitsPage(
  settings: PageSettings,
  csrf: string,
  content: OrderLimitsFieldsViewModel,
  hasLimits: boolean,
): Html {
  const { orderLimits: messages } = settings.messages;
  const title = messages.pageTitle({ application: content.applicationName });
  return renderPage(
    { ...settings, isWide: true },
    title,
    html`<h1>${title}</h1>
      <p>${messages.pageText}</p>
      <form method="post">
        ${hiddenField('csrf', csrf)} ${actionFields(settings, content.maximum, content.form)}
        ${inputFields(settings, content, ordersField(settings, content))}
        <button name="decision" value="save">${messages.save}</button>
        ${hasLimits && html`<button class="second" name="decision" value="remove">${messages.remove}</button>`}
      </form>`,
    content.faults,
    html`<p class="elsewhere back"><a href="/account/apps">${messages.back}</a></p>`,
  );
}

/** @param orders the field for selecting the accessible orders; false if the page states elsewhere which orders are accessible */
function inputFields(settings: PageSettings, content: OrderLimitsFieldsViewModel, orders: Html | false): Html {
  const { orderLimits: messages } = settings.messages;
  const { maximum, ceiling, form, faults } = content;
  const fixedCurrency =
    maximum?.limits?.currency ?? ceiling?.currency ?? (content.currencies.length === 1 ? content.currencies[0] : undefined);
  const currency = fixedCurrency ?? 'none';
  return html`${fixedCurrency === undefined ? currencyField(settings, content) : hiddenField('limit_currency', fixedCurrency)}
    ${input(faults, { name: 'limit_per_order', label: messages.perOrder({ currency }), value: form.limit_per_order })}
    ${input(faults, { name: 'limit_per_period', label: messages.perPeriod({ currency }), value: form.limit_per_period })}
    ${periodField(settings, content)}
    ${input(faults, { name: 'limit_until', label: messages.until, value: form.limit_until, type: 'date' })}
    ${productCategoriesField(settings, content)} ${orders} ${approvalField(settings, content)}
    <input type="hidden" name="time_zone" value="" data-time-zone />`;
}

/** Describes the maximum limits in one sentence. */
function describeMaximum(
  { messages, shop }: PageSettings,
  application: string,
  limits: EffectiveOrderLimits,
  isRequested: boolean,
): string {
  const list = describeLimitAmountsAndEndDate(messages, limits);
  if (list === undefined) return '';
  const { orderLimits: texts } = messages;
  return isRequested ? texts.asks({ application, limits: list }) : texts.permits({ application, shop: shop.name, limits: list });
}

const actionFields = (
  { messages: { orderLimits } }: PageSettings,
  maximum: EffectiveOrderLimits | undefined,
  { limit_action: checked }: OrderLimitsForm,
) =>
  html`<p>${orderLimits.may}</p>
    <ul class="permissions">
      ${(maximum?.actions ?? orderActionsInAuthorizationDetails).map(
        (action) =>
          html`<li>
            <label
              ><input
                type="checkbox"
                id="limit_action_${action}"
                name="limit_action"
                value="${action}"
                ${checked?.includes(action) && html`checked`}
              /><span>${orderLimits.actions[action]}</span></label
            >
          </li>`,
      )}
    </ul>`;

type InputField = { readonly name: string; readonly label: string; readonly value: string; readonly type?: 'text' | 'date' };

const input = (faults: readonly FieldError[], { name, label, value, type = 'text' }: InputField): Html => {
  const fault = faults.find(({ field }) => field === name);
  return html`<div class="field">
    <label for="${name}">${label}</label>
    ${fault && html`<p class="fault" id="${name}-fault">${fault.text}</p>`}
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      value="${value}"
      autocomplete="off"
      ${type === 'text' && html`inputmode="decimal"`}
      ${fault && html`aria-invalid="true" aria-describedby="${name}-fault"`}
    />
  </div>`;
};

function periodField({ messages: { orderLimits } }: PageSettings, { maximum, ceiling, form }: OrderLimitsFieldsViewModel): Html {
  const fixed = maximum?.limits?.period ?? ceiling?.period;
  if (fixed !== undefined) return html`${hiddenField('limit_period', fixed)}`;
  return select(
    'limit_period',
    orderLimits.period,
    budgetPeriods.map((period) => [period, orderLimits.periods[period]]),
    form.limit_period,
    undefined,
  );
}

/**
 * Renders the field for selecting the orders that the application can access or, if only its own orders are possible, a text that states
 * this restriction.
 */
function ordersField(
  { messages: { orderLimits } }: PageSettings,
  { applicationName, isRequested, canAllowAllOrders, form }: OrderLimitsFieldsViewModel,
): Html {
  if (!canAllowAllOrders) {
    return html`<p>${orderLimits.ownOrdersText({ application: applicationName })} ${!isRequested && orderLimits.ownOrdersHint}</p>`;
  }
  const options = orderAccessLevels.map((level) => [level, orderLimits.orderAccess[level]] as const);
  return select('limit_orders', orderLimits.orders, options, form.limit_orders ?? 'all', undefined);
}

/** Renders the field for choosing which orders need the user's approval, or a text that states what the application requested. */
function approvalField({ messages: { orderLimits } }: PageSettings, { maximum, form }: OrderLimitsFieldsViewModel): Html {
  if (maximum?.approval === 'always') return html`<p>${orderLimits.approvalAlwaysText}</p>`;
  if (maximum?.approval === 'never') return html`<p>${orderLimits.approvalNeverText}</p>`;
  const options = orderApprovalModes.map((mode) => [mode, orderLimits.approvalModes[mode]] as const);
  return select('limit_approval', orderLimits.approval, options, form.limit_approval ?? 'above_limit', undefined);
}

const currencyField = ({ messages: { orderLimits } }: PageSettings, { currencies, form, faults }: OrderLimitsFieldsViewModel): Html =>
  select(
    'limit_currency',
    orderLimits.currency,
    currencies.map((currency) => [currency, currency]),
    form.limit_currency,
    faults.find(({ field }) => field === 'limit_currency'),
  );

const select = (
  name: string,
  label: string,
  options: readonly (readonly [value: string, text: string])[],
  selected: string,
  fault: FieldError | undefined,
): Html =>
  html`<div class="field">
    <label for="${name}">${label}</label>
    ${fault && html`<p class="fault">${fault.text}</p>`}
    <select id="${name}" name="${name}">
      ${options.map(([value, text]) => html`<option value="${value}" ${value === selected && html`selected`}>${text}</option>`)}
    </select>
  </div>`;
