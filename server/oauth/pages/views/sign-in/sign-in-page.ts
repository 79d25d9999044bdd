import { html, type Html } from '../../../../http/response/html-template.ts';
import { formField, hiddenField, renderPage, type FieldError, type PageSettings } from '../page-layout-and-form-fields.ts';
import { renderProviderButtons, type ProviderButton } from '../identity-providers/identity-provider-pages.ts';

export type SignInPageViewModel = {
  readonly csrf: string;
  /** Name of the application that requested the sign-in. */
  readonly application?: string | undefined;
  readonly email?: string;
  /** The account that is already signed in, for example when a change requires a recent sign-in. */
  readonly signedInAs?: { readonly name: string; readonly email: string } | undefined;
  /** Base path of this sign-in: `/sign-in`, or `/sign-in/<uid>` if an application requested the sign-in. */
  readonly path: string;
  readonly signUpPath: string;
  readonly providers: readonly ProviderButton[];
  /** Path that the browser is redirected to after the sign-in. */
  readonly next: string;
  /** JSON options for the passkey request, including the challenge. */
  readonly passkeyRequest: string;
  readonly faults?: readonly FieldError[];
};

export function signInPage(settings: PageSettings, content: SignInPageViewModel): Html {
  const { shop, messages } = settings;
  const { signIn } = messages;
  const { csrf, application, email = '', signedInAs, path, signUpPath, next, providers, faults = [] } = content;
  const title = signIn.title({ shop: shop.name });
  const body = html`<h1>${title}</h1>
    ${application !== undefined && html`<p class="quiet">${signIn.continueTo({ application })}</p>`}
    ${signedInAs && signedInAccount(settings, signedInAs, application === undefined)}
    <form method="post" action="${path}" novalidate>
      ${hiddenField('csrf', csrf)}${hiddenField('next', next)}
      ${formField({ name: 'email', label: messages.email, type: 'email', value: email, autocomplete: 'username webauthn', enterKey: 'next', focus: email === '' }, faults)}
      ${formField({ name: 'password', label: messages.password, type: 'password', reveal: messages.reveal, autocomplete: 'current-password', enterKey: 'done', focus: email !== '' }, faults)}
      <button type="submit">${signIn.submit}</button>
    </form>
    ${renderPasskeySignInForm(settings, `${path}/passkey`, messages.passkey.signIn, content)}
    ${renderProviderButtons(settings, providers, { csrf, next, path })}
    <p class="elsewhere"><a href="/password-reset">${messages.passwordReset.forgot}</a></p>
    <p class="elsewhere">${signIn.noAccount({ shop: shop.name })} <a href="${signUpPath}">${signIn.toSignUp}</a></p>`;
  return renderPage(settings, title, body, faults);
}

/** Renders the account that is currently signed in on this browser. */
const signedInAccount = (
  { messages: { signIn } }: PageSettings,
  { name, email }: { readonly name: string; readonly email: string },
  hasAccountLink: boolean,
): Html =>
  html`<div class="facts account">
    <p>${signIn.signedInAs} <strong>${name}</strong><br />${email}</p>
    ${hasAccountLink && html`<p class="elsewhere"><a href="/account">${signIn.toAccount}</a></p>`}
  </div>`;

/** Renders a hidden passkey form below a separator. The page script shows both if the browser supports passkeys. */
export const renderPasskeySignInForm = (
  { messages: { signIn } }: PageSettings,
  action: string,
  label: string,
  { csrf, next, passkeyRequest }: { csrf: string; next: string; passkeyRequest: string },
): Html =>
  html`<form method="post" action="${action}" data-passkey="get" data-options="${passkeyRequest}" hidden>
    ${hiddenField('csrf', csrf)}${hiddenField('next', next)}${hiddenField('passkey', '')}
    <p class="separator">${signIn.or}</p>
    <button class="second" type="submit">${label}</button>
  </form>`;
