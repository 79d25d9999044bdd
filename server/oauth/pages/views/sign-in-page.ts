import { html, type Html } from '../../../http/response/html.ts';
import { formField, hiddenField, renderPage, type FieldError, type PageSettings } from './page-layout.ts';

export type SignInPageContent = {
  readonly csrf: string;
  /** Name of the application that requested the sign-in. */
  readonly application?: string | undefined;
  readonly email?: string;
  /** Base path of this sign-in: `/sign-in`, or `/sign-in/<uid>` if an application requested it. */
  readonly path: string;
  readonly signUpPath: string;
  /** Path to continue at after the sign-in. */
  readonly next: string;
  /** JSON options of the passkey request, which contain the challenge. */
  readonly passkeyRequest: string;
  readonly faults?: readonly FieldError[];
};

export function signInPage(setting: PageSettings, content: SignInPageContent): Html {
  const { shop, words } = setting;
  const { signIn } = words;
  const { csrf, application, email = '', path, signUpPath, next, faults = [] } = content;
  const title = signIn.title(shop.name);
  const body = html`<h1>${title}</h1>
    ${application !== undefined && html`<p class="quiet">${signIn.continueTo(application)}</p>`}
    <form method="post" action="${path}" novalidate>
      ${hiddenField('csrf', csrf)}${hiddenField('next', next)}
      ${formField({ name: 'email', label: words.email, type: 'email', value: email, autocomplete: 'username webauthn', enterKey: 'next', focus: email === '' }, faults)}
      ${formField({ name: 'password', label: words.password, type: 'password', reveal: words.reveal, autocomplete: 'current-password', enterKey: 'done', focus: email !== '' }, faults)}
      <button type="submit">${signIn.submit}</button>
    </form>
    ${passkeyForm(`${path}/passkey`, words.passkey.signIn, content)}
    <p class="elsewhere"><a href="/password-reset">${words.passwordReset.forgot}</a></p>
    <p class="elsewhere">${signIn.noAccount(shop.name)} <a href="${signUpPath}">${signIn.toSignUp}</a></p>`;
  return renderPage(setting, title, body, faults);
}

/** Renders the passkey form hidden; the page script shows it if the browser supports passkeys. */
export const passkeyForm = (
  action: string,
  label: string,
  { csrf, next, passkeyRequest }: { csrf: string; next: string; passkeyRequest: string },
): Html =>
  html`<form method="post" action="${action}" data-passkey="get" data-options="${passkeyRequest}" hidden>
    ${hiddenField('csrf', csrf)}${hiddenField('next', next)}${hiddenField('passkey', '')}
    <button class="second" type="submit">${label}</button>
  </form>`;
