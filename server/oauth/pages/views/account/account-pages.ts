import type { ConnectedApp } from '@mandate/contract';
import type { AccountApiKey } from '../../../../api-keys/list-active-and-past-api-keys-of-user.ts';
import type { SessionSummary } from '../../../sessions/record-list-and-revoke-browser-sessions.ts';
import { html, type HtmlChild, type Html } from '../../../../http/response/html-template.ts';
import { checkboxField, formField, hiddenField, renderPage, type FieldError, type PageSettings } from '../page-layout-and-form-fields.ts';
import { formatTimestamp } from '../format-timestamp.ts';
import { newPasswordField } from '../sign-in/sign-up-pages-and-password-field.ts';

/** Renders a subpage of the account page, with a link back to the account page. */
export const renderAccountSubpage = (settings: PageSettings, title: string, content: HtmlChild, faults: readonly FieldError[] = []): Html =>
  renderPage(
    settings,
    title,
    html`<p class="elsewhere back"><a href="/account">${settings.messages.accountMenu.back}</a></p>
      <h1>${title}</h1>
      ${content}`,
    faults,
  );

/** Renders the confirmation that an account action has succeeded. */
export const renderAccountSuccessPage = (settings: PageSettings, title: string, text: string, more?: Html): Html =>
  renderAccountSubpage(
    settings,
    title,
    html`<p role="status">${text}</p>
      ${more}`,
  );

type AccountOwner = { readonly name: string; readonly email: string; readonly isAdministrator: boolean };

export function accountPage(settings: PageSettings, person: AccountOwner, csrf: string): Html {
  const { accountMenu: menu, account, branding } = settings.messages;
  const links = [
    ['/account/password', menu.password],
    ['/account/email', menu.email],
    ['/account/language', menu.language],
    ['/account/security', menu.security],
    ['/account/sessions', menu.sessions],
    ['/account/apps', menu.apps],
    ['/account/api-keys', menu.apiKeys],
    ...(person.isAdministrator ? [['/account/branding', branding.menu] as const] : []),
    ['/account/close', menu.close],
  ] as const;
  return renderPage(
    settings,
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

export function changePasswordPage(settings: PageSettings, { csrf, email, faults, apiKeys, revokesKeys }: ChangePasswordForm): Html {
  const { changePassword: messages, passwordReset, credential } = settings.messages;
  const revokeKeys = {
    name: 'revoke_keys',
    value: 'yes',
    label: messages.revokeKeys({ count: apiKeys.length }),
    details: apiKeys.map(({ name, prefix }) => credential.apiKey({ name, prefix })),
    checked: revokesKeys,
  };
  const form = html`<form method="post" novalidate>
    ${hiddenField('csrf', csrf)}<input type="hidden" autocomplete="username" name="username" value="${email}" />
    ${newPasswordField(settings, passwordReset.newPassword, faults, true)}
    <p class="quiet">${messages.everywhere}</p>
    ${apiKeys.length > 0 && checkboxField(revokeKeys)}
    <button type="submit">${passwordReset.save}</button>
  </form>`;
  return renderAccountSubpage(settings, messages.title, form, faults);
}

/** Renders the page after a password change. If there are API keys, the page states whether they were revoked or still work. */
export function passwordChangedPage(settings: PageSettings, apiKeys: number, areRevoked: boolean): Html {
  const { changePassword: messages } = settings.messages;
  const about = html`<p>${areRevoked ? messages.keysRevoked({ count: apiKeys }) : messages.keysActive({ count: apiKeys })}</p>
    <p class="elsewhere"><a href="/account/api-keys">${messages.toKeys}</a></p>`;
  return renderAccountSuccessPage(settings, messages.doneTitle, messages.done, apiKeys > 0 ? about : undefined);
}

type ChangeEmailForm = Omit<Form, 'email'> & { readonly account: { email: string; email_verified: boolean }; readonly typed: string };

export function changeEmailPage(settings: PageSettings, { csrf, account, faults, typed }: ChangeEmailForm): Html {
  const { changeEmail: messages } = settings.messages;
  const form = html`<p class="quiet">${messages.now({ email: account.email })}</p>
    ${!account.email_verified && html`<p>${messages.unconfirmed}</p>`}
    <form method="post" novalidate>
      ${hiddenField('csrf', csrf)}
      ${formField({ name: 'email', label: messages.label, type: 'email', value: typed, autocomplete: 'email', enterKey: 'done', focus: true }, faults)}
      <button type="submit">${messages.submit}</button>
    </form>`;
  return renderAccountSubpage(settings, messages.title, form, faults);
}

export function sessionsPage(settings: PageSettings, csrf: string, here: string | undefined, browsers: readonly SessionSummary[]): Html {
  const { sessions: messages } = settings.messages;
  const rows = browsers.map(({ uid, device, startedAt }) => {
    const name = device === null ? messages.unknown : translateDevice(settings, device);
    return html`<li>
      <div>
        <strong>${name}</strong>
        <p class="quiet">${uid === here ? messages.here : messages.since({ when: formatTimestamp(settings, startedAt) })}</p>
      </div>
      <form method="post">
        ${hiddenField('csrf', csrf)}${hiddenField('session', uid)}
        <button class="second small" aria-label="${messages.endLabel({ device: name })}">${messages.end}</button>
      </form>
    </li>`;
  });
  const everywhere = html`<form method="post">
    ${hiddenField('csrf', csrf)}${hiddenField('everywhere', 'yes')}
    <p class="quiet" id="everywhere-hint">${messages.everywhereHint}</p>
    <button aria-describedby="everywhere-hint">${messages.everywhere}</button>
  </form>`;
  return renderAccountSubpage(
    settings,
    messages.title,
    html`<ul class="things">
        ${rows}
      </ul>
      ${everywhere}`,
  );
}

type ConnectedAppsViewModel = {
  readonly apps: readonly ConnectedApp[];
  /** IDs of the applications that can access only the orders that they placed. */
  readonly restrictedToOwnOrders: ReadonlySet<number>;
  /** The user's active API keys. */
  readonly apiKeys: readonly AccountApiKey[];
};

/** Renders the list of connected applications. */
export function connectedAppsPage(
  settings: PageSettings,
  csrf: string,
  { apps, restrictedToOwnOrders, apiKeys }: ConnectedAppsViewModel,
): Html {
  const { apps: messages, orderLimits } = settings.messages;
  const rows = apps.map(
    ({ id, application, device, scopes: allowed, last_used_at: used }) =>
      html`<li>
        <div>
          <strong>${application.name}</strong>
          ${device !== null && html`<p class="quiet">${messages.on({ device: translateDevice(settings, device) })}</p>`}
          <p class="quiet">${messages.used({ when: formatTimestamp(settings, new Date(used)) })}</p>
          <p class="quiet">${messages.may}</p>
          <ul class="can">
            ${allowed.map((scope) => html`<li>${describeScope(settings, scope)}</li>`)}
          </ul>
          ${restrictedToOwnOrders.has(id) && html`<p>${orderLimits.ownOrdersText({ application: application.name })}</p>`}
          ${allowed.some((scope) => scope.startsWith('orders.') || scope.startsWith('payments.')) && limitsLink(settings, id, application.name)}
        </div>
        <form method="post">
          ${hiddenField('csrf', csrf)}${hiddenField('app', String(id))}${keepKeysCheckbox(
            settings,
            apiKeys.filter(({ createdByClientId }) => createdByClientId === application.client_id),
          )}
          <button class="second small" aria-label="${messages.removeLabel({ application: application.name })}">${messages.remove}</button>
        </form>
      </li>`,
  );
  return renderAccountSubpage(
    settings,
    messages.title,
    rows.length === 0
      ? html`<p>${messages.none}</p>`
      : html`<ul class="things">
          ${rows}
        </ul>`,
  );
}

const limitsLink = ({ messages: { orderLimits } }: PageSettings, id: number, applicationName: string): Html =>
  html`<p class="elsewhere">
    <a href="/account/apps/${id}/limits" aria-label="${orderLimits.changeLabel({ application: applicationName })}">${orderLimits.change}</a>
  </p>`;

/**
 * Renders the checkbox to keep the keys that an application created. The checkbox value lists the key IDs, so that keys created later are
 * not kept.
 */
function keepKeysCheckbox({ messages: { apps, credential } }: PageSettings, keys: readonly AccountApiKey[]): Html | undefined {
  if (keys.length === 0) return undefined;
  return checkboxField({
    name: 'keep_keys',
    value: keys.map(({ id }) => id).join(','),
    label: apps.keepKeys({ count: keys.length }),
    details: [...keys.map(({ name, prefix }) => credential.apiKey({ name, prefix })), apps.revokesKeys],
  });
}

export function closeAccountPage(settings: PageSettings, csrf: string): Html {
  const { closeAccount: messages } = settings.messages;
  const form = html`<p>${messages.text}</p>
    <form method="post">${hiddenField('csrf', csrf)}<button class="danger">${messages.submit}</button></form>
    <p class="elsewhere"><a href="/account">${messages.keep}</a></p>`;
  return renderAccountSubpage(settings, messages.title, form);
}

/** Translates a stored description of a device, such as `Firefox on Linux` (describe-user-agent.ts). */
function translateDevice({ messages: { sessions } }: PageSettings, device: string): string {
  const [browser = '', system] = device.split(' on ', 2);
  return system === undefined ? device : sessions.browserOnSystem({ browser, system });
}

/** Returns a scope's description for the consent page. */
export function describeScope({ messages }: PageSettings, scope: string): string {
  return Object.entries<string>(messages.permission).find(([name]) => name === scope)?.[1] ?? scope;
}
