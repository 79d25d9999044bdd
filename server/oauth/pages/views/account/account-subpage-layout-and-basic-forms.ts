import type { AccountApiKey } from '../../../../api-keys/list-active-and-latest-past-api-keys-of-user.ts';
import { html, type HtmlChild, type Html } from '../../../../http/response/html-template.ts';
import {
  checkboxField,
  formField,
  hiddenField,
  linkButton,
  renderPage,
  type FieldError,
  type PageSettings,
} from '../page-layout-and-form-fields.ts';
import { newPasswordField } from '../sign-in/sign-up-pages-and-password-field.ts';

type ParentPage = { readonly path: string; readonly text: string };

/** Renders a subpage of the account page, with a link back to the parent page, which is the account page by default. */
export const renderAccountSubpage = (
  settings: PageSettings,
  title: string,
  content: HtmlChild,
  faults: readonly FieldError[] = [],
  { path, text }: ParentPage = { path: '/account', text: settings.messages.accountMenu.back },
): Html =>
  renderPage(
    settings,
    title,
    html`<h1>${title}</h1>
      ${content}`,
    faults,
    html`<p class="elsewhere back"><a href="${path}">${text}</a></p>`,
  );

/** Renders the confirmation that an account action has succeeded, with a button that leads to the account page. */
export const renderAccountSuccessPage = (settings: PageSettings, title: string, text: string, more?: Html): Html =>
  renderAccountSubpage(
    settings,
    title,
    html`<p role="status">${text}</p>
      ${more} ${linkButton('/account', settings.messages.signIn.toAccount)}`,
  );

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

/** Renders the page that confirms a password change. If there are API keys, the page states whether they were revoked or still work. */
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
      ${formField({ name: 'email', label: messages.label, type: 'email', value: typed, autocomplete: 'email', hint: messages.hint, enterKey: 'done', focus: true }, faults)}
      <button type="submit">${messages.submit}</button>
    </form>`;
  return renderAccountSubpage(settings, messages.title, form, faults);
}

export function closeAccountPage(settings: PageSettings, csrf: string): Html {
  const { closeAccount: messages } = settings.messages;
  const form = html`<p>${messages.text}</p>
    <form method="post">${hiddenField('csrf', csrf)}<button class="danger">${messages.submit}</button></form>
    <p class="elsewhere"><a href="/account">${messages.keep}</a></p>`;
  return renderAccountSubpage(settings, messages.title, form);
}
