import type { ConnectedApp } from '@mandate/contract';
import { scopeDefinitions } from '@mandate/contract';
import type { AccountApiKey } from '../../../api-keys/list-account-api-keys.ts';
import type { SessionSummary } from '../../sessions/session-list.ts';
import { isApiScope } from '../../protocol/oauth-scopes.ts';
import { html, type HtmlChild, type Html } from '../../../http/response/html.ts';
import { checkboxField, formField, hiddenField, renderPage, type FieldError, type PageSettings } from './page-layout.ts';
import { newPasswordField } from './sign-up-page.ts';

/** Renders a page below the account page, with a link back to it. */
export const accountSubpage = (setting: PageSettings, title: string, content: HtmlChild, faults: readonly FieldError[] = []): Html =>
  renderPage(
    setting,
    title,
    html`<p class="elsewhere back"><a href="/account">${setting.words.accountMenu.back}</a></p>
      <h1>${title}</h1>
      ${content}`,
    faults,
  );

/** Renders the confirmation that an action on the account has succeeded. */
export const accountSuccessPage = (setting: PageSettings, title: string, text: string, more?: Html): Html =>
  accountSubpage(
    setting,
    title,
    html`<p role="status">${text}</p>
      ${more}`,
  );

export function accountPage(setting: PageSettings, person: { name: string; email: string }, csrf: string): Html {
  const { accountMenu: menu, account } = setting.words;
  const links = [
    ['/account/password', menu.password],
    ['/account/email', menu.email],
    ['/account/security', menu.security],
    ['/account/sessions', menu.sessions],
    ['/account/apps', menu.apps],
    ['/account/api-keys', menu.apiKeys],
    ['/account/close', menu.close],
  ] as const;
  return renderPage(
    setting,
    menu.title,
    html`<h1>${account.title}</h1>
      <p><strong>${person.name}</strong><br />${person.email}</p>
      <p class="quiet">${account.text}</p>
      <nav aria-label="${menu.title}">
        <ul class="menu">
          ${links.map(([path, text]) => html`<li><a href="${path}">${text}</a></li>`)}
        </ul>
      </nav>
      <form method="post" action="/sign-out">${hiddenField('csrf', csrf)}<button class="second">${account.signOut}</button></form>`,
  );
}

type Form = { readonly csrf: string; readonly email: string; readonly faults: readonly FieldError[] };

type ChangePasswordForm = Form & { readonly apiKeys: readonly AccountApiKey[]; readonly revokesKeys: boolean };

export function changePasswordPage(setting: PageSettings, { csrf, email, faults, apiKeys, revokesKeys }: ChangePasswordForm): Html {
  const { changePassword: words, passwordReset, credential } = setting.words;
  const revokeKeys = {
    name: 'revoke_keys',
    value: 'yes',
    label: words.revokeKeys(apiKeys.length),
    details: apiKeys.map(({ name, prefix }) => credential.apiKey(name, prefix)),
    checked: revokesKeys,
  };
  const form = html`<form method="post" novalidate>
    ${hiddenField('csrf', csrf)}<input type="hidden" autocomplete="username" name="username" value="${email}" />
    ${newPasswordField(setting, passwordReset.newPassword, faults, true)}
    <p class="quiet">${words.everywhere}</p>
    ${apiKeys.length > 0 && checkboxField(revokeKeys)}
    <button type="submit">${passwordReset.save}</button>
  </form>`;
  return accountSubpage(setting, words.title, form, faults);
}

/** Renders the page after a password change. If there are API keys, it states whether they were revoked or still work. */
export function passwordChangedPage(setting: PageSettings, apiKeys: number, areRevoked: boolean): Html {
  const { changePassword: words } = setting.words;
  const about = html`<p>${areRevoked ? words.keysRevoked(apiKeys) : words.keysActive(apiKeys)}</p>
    <p class="elsewhere"><a href="/account/api-keys">${words.toKeys}</a></p>`;
  return accountSuccessPage(setting, words.doneTitle, words.done, apiKeys > 0 ? about : undefined);
}

type ChangeEmailForm = Omit<Form, 'email'> & { readonly account: { email: string; email_verified: boolean }; readonly typed: string };

export function changeEmailPage(setting: PageSettings, { csrf, account, faults, typed }: ChangeEmailForm): Html {
  const { changeEmail: words } = setting.words;
  const form = html`<p class="quiet">${words.now(account.email)}</p>
    ${!account.email_verified && html`<p>${words.unconfirmed}</p>`}
    <form method="post" novalidate>
      ${hiddenField('csrf', csrf)}
      ${formField({ name: 'email', label: words.label, type: 'email', value: typed, autocomplete: 'email', enterKey: 'done', focus: true }, faults)}
      <button type="submit">${words.submit}</button>
    </form>`;
  return accountSubpage(setting, words.title, form, faults);
}

export function sessionsPage(setting: PageSettings, csrf: string, here: string | undefined, browsers: readonly SessionSummary[]): Html {
  const { sessions: words } = setting.words;
  const rows = browsers.map(({ uid, device, startedAt }) => {
    const name = device ?? words.unknown;
    return html`<li>
      <div>
        <strong>${name}</strong>
        <p class="quiet">${uid === here ? words.here : words.since(formatTimestamp(setting, startedAt))}</p>
      </div>
      <form method="post">
        ${hiddenField('csrf', csrf)}${hiddenField('session', uid)}
        <button class="second small" aria-label="${words.endLabel(name)}">${words.end}</button>
      </form>
    </li>`;
  });
  const everywhere = html`<form method="post">
    ${hiddenField('csrf', csrf)}${hiddenField('everywhere', 'yes')}
    <p class="quiet" id="everywhere-hint">${words.everywhereHint}</p>
    <button aria-describedby="everywhere-hint">${words.everywhere}</button>
  </form>`;
  return accountSubpage(
    setting,
    words.title,
    html`<ul class="things">
        ${rows}
      </ul>
      ${everywhere}`,
  );
}

/**
 * Renders the list of connected applications.
 * @param apiKeys the active API keys of the user
 */
export function connectedAppsPage(
  setting: PageSettings,
  csrf: string,
  apps: readonly ConnectedApp[],
  apiKeys: readonly AccountApiKey[],
): Html {
  const { apps: words } = setting.words;
  const rows = apps.map(
    ({ id, application, device, scopes: allowed, last_used_at: used }) =>
      html`<li>
        <div>
          <strong>${application.name}</strong>
          ${device !== null && html`<p class="quiet">${words.on(device)}</p>`}
          <p class="quiet">${words.used(formatTimestamp(setting, new Date(used)))}</p>
          <p class="quiet">${words.may}</p>
          <ul class="can">
            ${allowed.map((scope) => html`<li>${describeScope(setting, scope)}</li>`)}
          </ul>
        </div>
        <form method="post">
          ${hiddenField('csrf', csrf)}${hiddenField('app', String(id))}${keepKeysCheckbox(
            setting,
            apiKeys.filter(({ createdByClientId }) => createdByClientId === application.client_id),
          )}
          <button class="second small" aria-label="${words.removeLabel(application.name)}">${words.remove}</button>
        </form>
      </li>`,
  );
  return accountSubpage(
    setting,
    words.title,
    rows.length === 0
      ? html`<p>${words.none}</p>`
      : html`<ul class="things">
          ${rows}
        </ul>`,
  );
}

/** Renders the checkbox to keep the keys that an application created. Its value lists their IDs, so that keys created later are not kept. */
function keepKeysCheckbox({ words: { apps, credential } }: PageSettings, keys: readonly AccountApiKey[]): Html | undefined {
  if (keys.length === 0) return undefined;
  return checkboxField({
    name: 'keep_keys',
    value: keys.map(({ id }) => id).join(','),
    label: apps.keepKeys(keys.length),
    details: [...keys.map(({ name, prefix }) => credential.apiKey(name, prefix)), apps.revokesKeys],
  });
}

export function closeAccountPage(setting: PageSettings, csrf: string): Html {
  const { closeAccount: words } = setting.words;
  const form = html`<p>${words.text}</p>
    <form method="post">${hiddenField('csrf', csrf)}<button class="danger">${words.submit}</button></form>
    <p class="elsewhere"><a href="/account">${words.keep}</a></p>`;
  return accountSubpage(setting, words.title, form);
}

/** Formats a timestamp for a page, in UTC. */
export const formatTimestamp = ({ words }: PageSettings, at: Date): string =>
  new Intl.DateTimeFormat(words.language, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC', hour12: false }).format(at) + ' UTC';

/** Returns the description of a scope that the consent page shows. */
export function describeScope({ words }: PageSettings, scope: string): string {
  if (isApiScope(scope)) return scopeDefinitions[scope].consent;
  return Object.entries<string>(words.permission).find(([name]) => name === scope)?.[1] ?? scope;
}
