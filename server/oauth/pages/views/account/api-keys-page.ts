import { orderActionsInAuthorizationDetails, type ApiKeyLimits } from '@mandate/contract';
import type { AccountApiKey } from '../../../../api-keys/list-active-and-latest-past-api-keys-of-user.ts';
import { describeScope } from '../describe-scope.ts';
import { renderAccountSubpage } from './account-subpage-layout-and-basic-forms.ts';
import { confirmedActionForm } from './confirmed-action-form.ts';
import { formatTimestamp } from '../format-time-and-money.ts';
import { statusBadge } from '../status-badge.ts';
import { html, type Html } from '../../../../http/response/html-template.ts';
import { describeOrderableProductCategories, describeLimitAmountsAndEndDate } from '../order-limits-form-and-amount-format.ts';
import { linkButton, type PageSettings } from '../page-layout-and-form-fields.ts';

export function apiKeysPage(settings: PageSettings, csrf: string, keys: readonly AccountApiKey[]): Html {
  const { apiKeys: messages } = settings.messages;
  const list =
    keys.length === 0
      ? html`<p>${messages.none}</p>
          <p>${messages.howToCreate}</p>
          ${linkButton('/account/apps', settings.messages.accountMenu.apps)}`
      : html`<ul class="things detailed">
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
      <p class="quiet"><code>${key.prefix}…</code></p>
      <small>${statusBadge(messages.status[key.status], key.status === 'active' ? 'good' : 'neutral')}</small>
      <p class="quiet">
        ${key.application === null ? messages.created({ when: created }) : messages.createdThrough({ when: created, application: key.application })}
      </p>
      <p class="quiet">
        ${key.lastUsedAt === null ? messages.neverUsed : messages.lastUsed({ when: formatTimestamp(settings, key.lastUsedAt) })}
      </p>
      ${key.status === 'expired' && html`<p class="quiet">${messages.expired({ when: expires })}</p>`}
      ${
        key.status === 'active' &&
        html`<p class="quiet">${messages.expires({ when: expires })}</p>
          ${permissionsAndLimits(settings, key)}`
      }
    </div>
    ${
      key.status === 'active' &&
      confirmedActionForm(settings, {
        csrf,
        field: { name: 'key', value: String(key.id) },
        text: messages.revoke,
        label: messages.revokeLabel({ name: key.name }),
        consequence: messages.revokeConsequence,
        submit: messages.revokeKey,
      })
    }
  </li>`;
}

/** Renders the permissions and the limits of an active key. */
const permissionsAndLimits = (settings: PageSettings, { scopes, limits }: AccountApiKey): Html =>
  html`<p class="quiet">${settings.messages.apiKeys.may}</p>
    <ul class="can">
      ${scopes.map((scope) => html`<li>${describeScope(settings, scope, scopes)}</li>`)}
    </ul>
    ${limits && describeKeyLimits(settings, limits)}`;

/**
 * Describes the limits of a key: the amounts and the end date, and any restrictions on actions, product categories and accessible orders.
 */
function describeKeyLimits({ messages }: PageSettings, limits: ApiKeyLimits): Html {
  const { apiKeys, orderLimits } = messages;
  const list = describeLimitAmountsAndEndDate(messages, limits);
  const actions =
    limits.actions.length < orderActionsInAuthorizationDetails.length ? limits.actions.map((action) => orderLimits.actions[action]) : [];
  const categories = limits.products ? [describeOrderableProductCategories(messages, limits.products)] : [];
  const access = limits.orders === 'own' ? [apiKeys.ownOrders] : [];
  return html`<p class="quiet">${apiKeys.limits}</p>
    <ul class="can">
      ${list !== undefined && html`<li>${apiKeys.orders({ limits: list })}</li>`}
      ${[...actions, ...categories, ...access].map((text) => html`<li>${text}</li>`)}
    </ul>`;
}
