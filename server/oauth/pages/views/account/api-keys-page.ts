import { orderActions, type ApiKeyLimits } from '@mandate/contract';
import type { AccountApiKey } from '../../../../api-keys/list-active-and-past-api-keys-of-user.ts';
import { renderAccountSubpage, describeScope } from './account-pages.ts';
import { formatTimestamp } from '../format-time-and-money.ts';
import { html, type Html } from '../../../../http/response/html-template.ts';
import { describeCategories, describeLimits } from '../order-limits-form-and-amount-format.ts';
import { hiddenField, linkButton, type PageSettings } from '../page-layout-and-form-fields.ts';

export function apiKeysPage(settings: PageSettings, csrf: string, keys: readonly AccountApiKey[]): Html {
  const { apiKeys: messages } = settings.messages;
  const list =
    keys.length === 0
      ? html`<p>${messages.none}</p>
          <p>${messages.howToCreate}</p>
          ${linkButton('/account/apps', settings.messages.accountMenu.apps)}`
      : html`<ul class="things">
          ${keys.map((key) => apiKeyRow(settings, csrf, key))}
        </ul>`;
  return renderAccountSubpage(
    { ...settings, isWide: true },
    messages.title,
    html`<p class="quiet">${messages.text}</p>
      ${list}`,
  );
}

function apiKeyRow(settings: PageSettings, csrf: string, key: AccountApiKey): Html {
  const { apiKeys: messages } = settings.messages;
  const [created, expires] = [formatTimestamp(settings, key.createdAt), formatTimestamp(settings, key.expiresAt)];
  return html`<li>
    <div>
      <strong class="${key.status === 'active' ? 'name' : 'quiet'}">${key.name}</strong>
      <p class="quiet"><code>${key.prefix}…</code> ${messages.status[key.status]}</p>
      <p class="quiet">
        ${key.application === null ? messages.created({ when: created }) : messages.createdThrough({ when: created, application: key.application })}
      </p>
      <p class="quiet">
        ${key.lastUsedAt === null ? messages.neverUsed : messages.lastUsed({ when: formatTimestamp(settings, key.lastUsedAt) })}
      </p>
      <p class="quiet">${key.status === 'expired' ? messages.expired({ when: expires }) : messages.expires({ when: expires })}</p>
      <p class="quiet">${messages.may}</p>
      <ul class="can">
        ${key.scopes.map((scope) => html`<li>${describeScope(settings, scope)}</li>`)}
      </ul>
      ${key.limits && describeKeyLimits(settings, key.limits)}
    </div>
    ${
      key.status === 'active' &&
      html`<form method="post">
        ${hiddenField('csrf', csrf)}${hiddenField('key', String(key.id))}
        <button class="second small" aria-label="${messages.revokeLabel({ name: key.name })}">${messages.revoke}</button>
      </form>`
    }
  </li>`;
}

/**
 * Describes the limits of a key: the amounts and the end date, the permitted actions if not all are permitted, and the accessible orders.
 */
function describeKeyLimits({ messages }: PageSettings, limits: ApiKeyLimits): Html {
  const { apiKeys, orderLimits } = messages;
  const list = describeLimits(messages, limits);
  const actions = limits.actions.length < orderActions.length ? limits.actions.map((action) => orderLimits.actions[action]) : [];
  const categories = limits.products ? [describeCategories(messages, limits.products)] : [];
  const access = limits.orders === 'own' ? [apiKeys.ownOrders] : [];
  return html`<p class="quiet">${apiKeys.limits}</p>
    <ul class="can">
      ${list !== undefined && html`<li>${apiKeys.orders({ limits: list })}</li>`}
      ${[...actions, ...categories, ...access].map((text) => html`<li>${text}</li>`)}
    </ul>`;
}
