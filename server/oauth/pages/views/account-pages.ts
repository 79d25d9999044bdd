import type { ConnectedApp } from '@mandate/contract';
import { scopes } from '@mandate/contract';
import type { AccountApiKey } from '../../../api-keys/list-account-api-keys.ts';
import type { SignedInBrowser } from '../../sessions/session-list.ts';
import { isApiScope } from '../../protocol/oauth-scopes.ts';
import { html, type Child, type Html } from './html.ts';
import { checkbox, field, hidden, page, type Fault, type Setting } from './page-layout.ts';
import { newPasswordField } from './sign-up-page.ts';

/** Renders a page below the account page, with a link back to it. */
export const accountPart = (setting: Setting, title: string, content: Child, faults: readonly Fault[] = []): Html =>
  page(
    setting,
    title,
    html`<p class="elsewhere back"><a href="/account">${setting.words.accountMenu.back}</a></p>
      <h1>${title}</h1>
      ${content}`,
    faults,
  );

/** Renders the confirmation that an action on the account has succeeded. */
export const donePage = (setting: Setting, title: string, text: string, more?: Html): Html =>
  accountPart(
    setting,
    title,
    html`<p role="status">${text}</p>
      ${more}`,
  );

export function accountPage(setting: Setting, person: { name: string; email: string }, csrf: string): Html {
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
  return page(
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
      <form method="post" action="/sign-out">${hidden('csrf', csrf)}<button class="second">${account.signOut}</button></form>`,
  );
}

type Form = { readonly csrf: string; readonly email: string; readonly faults: readonly Fault[] };

type ChangePasswordForm = Form & { readonly apiKeys: readonly AccountApiKey[]; readonly revokesKeys: boolean };

export function changePasswordPage(setting: Setting, { csrf, email, faults, apiKeys, revokesKeys }: ChangePasswordForm): Html {
  const { changePassword: words, passwordReset, credential } = setting.words;
  const revokeKeys = {
    name: 'revoke_keys',
    value: 'yes',
    label: words.revokeKeys(apiKeys.length),
    details: apiKeys.map(({ name, prefix }) => credential.apiKey(name, prefix)),
    checked: revokesKeys,
  };
  const form = html`<form method="post" novalidate>
    ${hidden('csrf', csrf)}<input type="hidden" autocomplete="username" name="username" value="${email}" />
    ${newPasswordField(setting, passwordReset.newPassword, faults, true)}
    <p class="quiet">${words.everywhere}</p>
    ${apiKeys.length > 0 && checkbox(revokeKeys)}
    <button type="submit">${passwordReset.save}</button>
  </form>`;
  return accountPart(setting, words.title, form, faults);
}

/** Renders the page after a password change. If there are API keys, it states whether they were revoked or still work. */
export function passwordChangedPage(setting: Setting, apiKeys: number, areRevoked: boolean): Html {
  const { changePassword: words } = setting.words;
  const about = html`<p>${areRevoked ? words.keysRevoked(apiKeys) : words.keysActive(apiKeys)}</p>
    <p class="elsewhere"><a href="/account/api-keys">${words.toKeys}</a></p>`;
  return donePage(setting, words.doneTitle, words.done, apiKeys > 0 ? about : undefined);
}

type ChangeEmailForm = Omit<Form, 'email'> & { readonly account: { email: string; email_verified: boolean }; readonly typed: string };

export function changeEmailPage(setting: Setting, { csrf, account, faults, typed }: ChangeEmailForm): Html {
  const { changeEmail: words } = setting.words;
  const form = html`<p class="quiet">${words.now(account.email)}</p>
    ${!account.email_verified && html`<p>${words.unconfirmed}</p>`}
    <form method="post" novalidate>
      ${hidden('csrf', csrf)}
      ${field({ name: 'email', label: words.label, type: 'email', value: typed, autocomplete: 'email', enterKey: 'done', focus: true }, faults)}
      <button type="submit">${words.submit}</button>
    </form>`;
  return accountPart(setting, words.title, form, faults);
}

export function sessionsPage(setting: Setting, csrf: string, here: string | undefined, browsers: readonly SignedInBrowser[]): Html {
  const { sessions: words } = setting.words;
  const rows = browsers.map(({ uid, device, startedAt }) => {
    const name = device ?? words.unknown;
    return html`<li>
      <div>
        <strong>${name}</strong>
        <p class="quiet">${uid === here ? words.here : words.since(moment(setting, startedAt))}</p>
      </div>
      <form method="post">
        ${hidden('csrf', csrf)}${hidden('session', uid)}
        <button class="second small" aria-label="${words.endLabel(name)}">${words.end}</button>
      </form>
    </li>`;
  });
  const everywhere = html`<form method="post">
    ${hidden('csrf', csrf)}${hidden('everywhere', 'yes')}
    <p class="quiet" id="everywhere-hint">${words.everywhereHint}</p>
    <button aria-describedby="everywhere-hint">${words.everywhere}</button>
  </form>`;
  return accountPart(
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
export function appsPage(setting: Setting, csrf: string, apps: readonly ConnectedApp[], apiKeys: readonly AccountApiKey[]): Html {
  const { apps: words } = setting.words;
  const rows = apps.map(
    ({ id, application, device, scopes: allowed, last_used_at: used }) =>
      html`<li>
        <div>
          <strong>${application.name}</strong>
          ${device !== null && html`<p class="quiet">${words.on(device)}</p>`}
          <p class="quiet">${words.used(moment(setting, new Date(used)))}</p>
          <p class="quiet">${words.may}</p>
          <ul class="can">
            ${allowed.map((scope) => html`<li>${consentSentence(setting, scope)}</li>`)}
          </ul>
        </div>
        <form method="post">
          ${hidden('csrf', csrf)}${hidden('app', String(id))}${keepKeysCheckbox(
            setting,
            apiKeys.filter(({ createdByClientId }) => createdByClientId === application.client_id),
          )}
          <button class="second small" aria-label="${words.removeLabel(application.name)}">${words.remove}</button>
        </form>
      </li>`,
  );
  return accountPart(
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
function keepKeysCheckbox({ words: { apps, credential } }: Setting, keys: readonly AccountApiKey[]): Html | undefined {
  if (keys.length === 0) return undefined;
  return checkbox({
    name: 'keep_keys',
    value: keys.map(({ id }) => id).join(','),
    label: apps.keepKeys(keys.length),
    details: [...keys.map(({ name, prefix }) => credential.apiKey(name, prefix)), apps.revokesKeys],
  });
}

export function closeAccountPage(setting: Setting, csrf: string): Html {
  const { closeAccount: words } = setting.words;
  const form = html`<p>${words.text}</p>
    <form method="post">${hidden('csrf', csrf)}<button class="danger">${words.submit}</button></form>
    <p class="elsewhere"><a href="/account">${words.keep}</a></p>`;
  return accountPart(setting, words.title, form);
}

/** Formats a timestamp for a page, in UTC. */
export const moment = ({ words }: Setting, at: Date): string =>
  new Intl.DateTimeFormat(words.language, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC', hour12: false }).format(at) + ' UTC';

/** Returns the description of a scope that the consent page shows. */
export function consentSentence({ words }: Setting, scope: string): string {
  if (isApiScope(scope)) return scopes[scope].consent;
  return Object.entries<string>(words.permission).find(([name]) => name === scope)?.[1] ?? scope;
}
