import type { EffectiveOrderLimits } from '@mandate/contract';
import { html, type Html } from '../../../http/response/html-template.ts';
import type { OrderLimitsForm } from './order-limits-form-and-amount-format.ts';
import type { FieldError, PageSettings } from './page-layout-and-form-fields.ts';

type ProductCategoriesField = {
  readonly applicationName: string;
  readonly maximum: EffectiveOrderLimits | undefined;
  /** Whether the application requested the maximum; false if administrators set it. */
  readonly isRequested: boolean;
  /** Categories that the user can select. */
  readonly categories: readonly string[];
  readonly form: OrderLimitsForm;
  readonly faults: readonly FieldError[];
};

/**
 * Renders the categories of the products that the application can order. If the maximum contains categories, the user can deselect them.
 * Otherwise, the user can select categories.
 */
export function productCategoriesField({ messages: { orderLimits }, shop }: PageSettings, content: ProductCategoriesField): Html | false {
  const { applicationName: application, maximum, isRequested, categories, form, faults } = content;
  if (categories.length === 0) return false;
  const isOpen = (form.limit_category ?? []).length > 0 || faults.some(({ field }) => field === fieldName);
  if (!maximum?.products) {
    return html`<details class="limits" ${isOpen && html`open`}>
      <summary>${orderLimits.categories}</summary>
      <p class="hint">${orderLimits.categoriesHint}</p>
      ${checkboxes(orderLimits.categories, content)}
    </details>`;
  }
  const text = isRequested ? orderLimits.asksCategories({ application }) : orderLimits.permitsCategories({ application, shop: shop.name });
  return html`<p>${text}</p>
    ${checkboxes(orderLimits.categories, content)}`;
}

const fieldName = 'limit_category';

function checkboxes(label: string, { categories, form, faults }: ProductCategoriesField): Html {
  const fault = faults.find(({ field }) => field === fieldName);
  return html`<div role="group" aria-label="${label}" id="${fieldName}">
    ${fault && html`<p class="fault">${fault.text}</p>`}
    <ul class="permissions">
      ${categories.map(
        (category) =>
          html`<li>
            <label
              ><input
                type="checkbox"
                name="${fieldName}"
                value="${category}"
                ${form.limit_category?.includes(category) && html`checked`}
              /><span>${category}</span></label
            >
          </li>`,
      )}
    </ul>
  </div>`;
}
