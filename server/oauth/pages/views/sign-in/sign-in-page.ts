import { html, type Html } from '../../../../http/response/html-template.ts';
import { formField, hiddenField, renderPage, type FieldError, type PageSettings } from '../page-layout-and-form-fields.ts';
import { renderProviderButtons, type ProviderButton } from '../identity-providers/identity-provider-pages.ts';

/** The account of the user who is signed in. */
export type SignedInAccount = {
  readonly name: string;
  readonly email: string;
  /** The URL of the next page if the user can continue with this account; otherwise, the reason why the user must sign in again. */
  readonly next: { readonly url: string } | { readonly reason: string };
  /** Path of the sign-in page on which the user can choose a different account. */
  readonly otherAccountPath: string;
};

export type SignInPageViewModel = {
  readonly csrf: string;
  /** Name of the application that requested the sign-in. */
  readonly application?: string | undefined;
  readonly email?: string;
  readonly signedInAs?: SignedInAccount | undefined;
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
  const { application, signedInAs, faults = [] } = content;
  const title = messages.signIn.title({ shop: shop.name });
  const canContinue = signedInAs !== undefined && 'url' in signedInAs.next;
  const body = html`<h1>${title}</h1>
    ${application !== undefined && html`<p class="quiet">${messages.signIn.continueTo({ application })}</p>`}
    ${signedInAs && signedInAccount(settings, signedInAs)}
    ${
      canContinue
        ? html`<details class="other-account" ${faults.length > 0 && html`open`}>
            <summary>${messages.consent.switch}</summary>
            ${waysToSignIn(settings, content, false)}
          </details>`
        : waysToSignIn(settings, content, true)
    }`;
  return renderPage(settings, title, body, faults);
}

/** Renders the password form and the other ways to sign in. */
function waysToSignIn(settings: PageSettings, content: SignInPageViewModel, isFocused: boolean): Html {
  const { shop, messages } = settings;
  const { signIn } = messages;
  const { csrf, email = '', path, signUpPath, next, providers, faults = [] } = content;
  return html`<form method="post" action="${path}" novalidate>
      ${hiddenField('csrf', csrf)}${hiddenField('next', next)}
      ${formField({ name: 'email', label: messages.email, type: 'email', value: email, autocomplete: 'username webauthn', enterKey: 'next', focus: isFocused && email === '' }, faults)}
      ${formField({ name: 'password', label: messages.password, type: 'password', reveal: messages.reveal, autocomplete: 'current-password', enterKey: 'done', focus: isFocused && email !== '' }, faults)}
      <p class="elsewhere forgot"><a href="/password-reset">${messages.passwordReset.forgot}</a></p>
      <button type="submit">${signIn.submit}</button>
    </form>
    ${renderPasskeySignInForm(settings, `${path}/passkey`, messages.passkey.signIn, content)}
    ${renderProviderButtons(settings, providers, { csrf, next, path })}
    <p class="elsewhere">${signIn.noAccount({ shop: shop.name })} <a href="${signUpPath}">${signIn.toSignUp}</a></p>`;
}

/**
 * Renders the account of the user who is signed in, with a button to continue with this account, or with the reason why the user must sign
 * in again.
 */
function signedInAccount({ messages: { signIn, consent } }: PageSettings, { name, email, next, otherAccountPath }: SignedInAccount): Html {
  const facts = html`<p>${signIn.signedInAs} <strong>${name}</strong><br />${email}</p>`;
  if ('url' in next)
    return html`<div class="facts account">${facts}</div>
      <p class="next">
        <a class="button main" href="${next.url}"><span class="two-lines">${signIn.continueAs({ name })}</span></a>
      </p>`;
  return html`<p>${next.reason}</p>
    <div class="facts account">
      ${facts}
      <p class="elsewhere"><a href="${otherAccountPath}">${consent.switch}</a></p>
    </div>`;
}

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
