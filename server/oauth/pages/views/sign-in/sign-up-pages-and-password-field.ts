import { html, type Html } from '../../../../http/response/html-template.ts';
import { emphasizeValue, formField, hiddenField, renderPage, type FieldError, type PageSettings } from '../page-layout-and-form-fields.ts';

export type SignUpPageViewModel = {
  readonly csrf: string;
  readonly application?: string | undefined;
  readonly email?: string;
  readonly signInPath: string;
  readonly faults?: readonly FieldError[];
};

/**
 * Renders the first step of a sign-up, which asks only for the e-mail address. The link sent to that address leads to the password step.
 */
export function signUpPage(settings: PageSettings, { csrf, application, email = '', signInPath, faults = [] }: SignUpPageViewModel): Html {
  const { shop, messages } = settings;
  const { signUp } = messages;
  const title = signUp.title({ shop: shop.name });
  const content = html`<h1>${title}</h1>
    ${application !== undefined && html`<p class="quiet">${messages.signIn.continueTo({ application })}</p>`}
    <form method="post" novalidate>
      ${hiddenField('csrf', csrf)}
      ${formField({ name: 'email', label: messages.email, type: 'email', value: email, autocomplete: 'username', hint: messages.passwordReset.hint, enterKey: 'done', focus: true }, faults)}
      <button type="submit">${signUp.next}</button>
    </form>
    <p class="elsewhere">${signUp.haveAccount} <a href="${signInPath}">${signUp.toSignIn}</a></p>`;
  return renderPage(settings, title, content, faults);
}

export type SignUpNameAndPasswordPageViewModel = {
  readonly csrf: string;
  readonly email: string;
  readonly name?: string;
  readonly faults?: readonly FieldError[];
};

export function signUpNameAndPasswordPage(
  settings: PageSettings,
  { csrf, email, name = '', faults = [] }: SignUpNameAndPasswordPageViewModel,
): Html {
  const { shop, messages } = settings;
  const title = messages.signUp.title({ shop: shop.name });
  const content = html`<h1>${title}</h1>
    <p class="quiet">${emphasizeValue(messages.confirmSignUp.address({ email }), email)}</p>
    <form method="post" novalidate>
      ${hiddenField('csrf', csrf)}<input type="hidden" autocomplete="username" name="username" value="${email}" />
      ${formField({ name: 'name', label: messages.name, value: name, autocomplete: 'name', enterKey: 'next', focus: true }, faults)}
      ${newPasswordField(settings, messages.password, faults)}
      <button type="submit">${messages.signUp.submit}</button>
    </form>`;
  return renderPage(settings, title, content, faults);
}

export const passwordLengthLimits = { minimum: 12, maximum: 200 };

export const newPasswordField = ({ messages }: PageSettings, label: string, faults: readonly FieldError[], focus = false): Html =>
  formField(
    {
      name: 'password',
      label,
      type: 'password',
      reveal: messages.reveal,
      autocomplete: 'new-password',
      hint: messages.signUp.passwordHint({ minimum: passwordLengthLimits.minimum }),
      enterKey: 'done',
      focus,
    },
    faults,
  );
