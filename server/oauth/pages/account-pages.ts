import type { ConnectedApp } from '@mandate/contract';
import { scopes } from '@mandate/contract';
import type { SignedInBrowser } from '../browser-sessions.ts';
import { isApiScope } from '../scopes.ts';
import { html, type Child, type Html } from './html.ts';
import { field, hidden, page, type Fault, type Setting } from './page.ts';
import { newPasswordField } from './sign-up-page.ts';

/** A page below the account, with the way back to it. */
export const accountPart = (setting: Setting, title: string, content: Child, faults: readonly Fault[] = []): Html =>
  page(
    setting,
    title,
    html`<p class="elsewhere back"><a href="/account">${setting.words.accountMenu.back}</a></p>
      <h1>${title}</h1>
      ${content}`,
    faults,
  );

/** Something was done. */
export const donePage = (setting: Setting, title: string, text: string): Html =>
  accountPart(setting, title, html`<p role="status">${text}</p>`);

export function accountPage(setting: Setting, person: { name: string; email: string }, csrf: string): Html {
  const { accountMenu: menu, account } = setting.words;
  const links = [
    ['/account/password', menu.password],
    ['/account/email', menu.email],
    ['/account/security', menu.security],
    ['/account/sessions', menu.sessions],
    ['/account/apps', menu.apps],
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

export function changePasswordPage(setting: Setting, { csrf, email, faults }: Form): Html {
  const { changePassword: words, passwordReset } = setting.words;
  const form = html`<form method="post" novalidate>
    ${hidden('csrf', csrf)}<input type="hidden" autocomplete="username" name="username" value="${email}" />
    ${newPasswordField(setting, passwordReset.newPassword, faults, true)}
    <p class="quiet">${words.everywhere}</p>
    <button type="submit">${passwordReset.save}</button>
  </form>`;
  return accountPart(setting, words.title, form, faults);
}

export function changeEmailPage(setting: Setting, { csrf, email, faults, typed }: Form & { readonly typed: string }): Html {
  const { changeEmail: words } = setting.words;
  const form = html`<p class="quiet">${words.now(email)}</p>
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

export function appsPage(setting: Setting, csrf: string, apps: readonly ConnectedApp[]): Html {
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
            ${allowed.map((scope) => html`<li>${sentence(setting, scope)}</li>`)}
          </ul>
        </div>
        <form method="post">
          ${hidden('csrf', csrf)}${hidden('app', String(id))}
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

export function closeAccountPage(setting: Setting, csrf: string): Html {
  const { closeAccount: words } = setting.words;
  const form = html`<p>${words.text}</p>
    <form method="post">${hidden('csrf', csrf)}<button class="danger">${words.submit}</button></form>
    <p class="elsewhere"><a href="/account">${words.keep}</a></p>`;
  return accountPart(setting, words.title, form);
}

export const moment = ({ words }: Setting, at: Date): string =>
  new Intl.DateTimeFormat(words.language, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC', hour12: false }).format(at) + ' UTC';

function sentence({ words }: Setting, scope: string): string {
  if (isApiScope(scope)) return scopes[scope].consent;
  return Object.entries<string>(words.permission).find(([name]) => name === scope)?.[1] ?? scope;
}
