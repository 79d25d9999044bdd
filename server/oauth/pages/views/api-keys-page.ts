import type { AccountApiKey } from '../../../api-keys/list-account-api-keys.ts';
import { accountSubpage, describeScope, formatTimestamp } from './account-pages.ts';
import { html, type Html } from '../../../http/response/html.ts';
import { hiddenField, type PageSettings } from './page-layout.ts';

export function apiKeysPage(setting: PageSettings, csrf: string, keys: readonly AccountApiKey[]): Html {
  const { apiKeys: words } = setting.words;
  const list =
    keys.length === 0
      ? html`<p>${words.none}</p>`
      : html`<ul class="things">
          ${keys.map((key) => apiKeyRow(setting, csrf, key))}
        </ul>`;
  return accountSubpage(
    setting,
    words.title,
    html`<p class="quiet">${words.text}</p>
      ${list}`,
  );
}

function apiKeyRow(setting: PageSettings, csrf: string, key: AccountApiKey): Html {
  const { apiKeys: words } = setting.words;
  const [created, expires] = [formatTimestamp(setting, key.createdAt), formatTimestamp(setting, key.expiresAt)];
  return html`<li>
    <div>
      <strong>${key.name}</strong>
      <p class="quiet"><code>${key.prefix}…</code> ${words.status[key.status]}</p>
      <p class="quiet">${key.application === null ? words.created(created) : words.createdThrough(created, key.application)}</p>
      <p class="quiet">${key.lastUsedAt === null ? words.neverUsed : words.lastUsed(formatTimestamp(setting, key.lastUsedAt))}</p>
      <p class="quiet">${key.status === 'expired' ? words.expired(expires) : words.expires(expires)}</p>
      <p class="quiet">${words.may}</p>
      <ul class="can">
        ${key.scopes.map((scope) => html`<li>${describeScope(setting, scope)}</li>`)}
      </ul>
    </div>
    ${
      key.status === 'active' &&
      html`<form method="post">
        ${hiddenField('csrf', csrf)}${hiddenField('key', String(key.id))}
        <button class="second small" aria-label="${words.revokeLabel(key.name)}">${words.revoke}</button>
      </form>`
    }
  </li>`;
}
