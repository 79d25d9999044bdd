import { html, type Html } from '../../../http/response/html.ts';
import { formField, hiddenField, renderPage, type FieldError, type PageSettings } from './page-layout.ts';

export type SignUpPageContent = {
  readonly csrf: string;
  readonly application?: string | undefined;
  readonly email?: string;
  readonly signInPath: string;
  readonly faults?: readonly FieldError[];
};

/** Renders the first step of a sign-up, which asks only for the e-mail address. The link sent to it leads to the password step. */
export function signUpPage(setting: PageSettings, { csrf, application, email = '', signInPath, faults = [] }: SignUpPageContent): Html {
  const { shop, words } = setting;
  const { signUp } = words;
  const title = signUp.title(shop.name);
  const content = html`<h1>${title}</h1>
    ${application !== undefined && html`<p class="quiet">${words.signIn.continueTo(application)}</p>`}
    <form method="post" novalidate>
      ${hiddenField('csrf', csrf)}
      ${formField({ name: 'email', label: words.email, type: 'email', value: email, autocomplete: 'username', hint: words.passwordReset.hint, enterKey: 'done', focus: true }, faults)}
      <button type="submit">${signUp.next}</button>
    </form>
    <p class="elsewhere">${signUp.haveAccount} <a href="${signInPath}">${signUp.toSignIn}</a></p>`;
  return renderPage(setting, title, content, faults);
}

export type ConfirmSignUpPageContent = {
  readonly csrf: string;
  readonly email: string;
  readonly name?: string;
  readonly faults?: readonly FieldError[];
};

export function confirmSignUpPage(setting: PageSettings, { csrf, email, name = '', faults = [] }: ConfirmSignUpPageContent): Html {
  const { shop, words } = setting;
  const title = words.signUp.title(shop.name);
  const content = html`<h1>${title}</h1>
    <p class="quiet">${words.confirmSignUp.address(email)}</p>
    <form method="post" novalidate>
      ${hiddenField('csrf', csrf)}<input type="hidden" autocomplete="username" name="username" value="${email}" />
      ${formField({ name: 'name', label: words.name, value: name, autocomplete: 'name', enterKey: 'next', focus: true }, faults)}
      ${newPasswordField(setting, words.password, faults)}
      <button type="submit">${words.signUp.submit}</button>
    </form>`;
  return renderPage(setting, title, content, faults);
}

export const passwordLengthLimits = { minimum: 12, maximum: 200 };

export const newPasswordField = ({ words }: PageSettings, label: string, faults: readonly FieldError[], focus = false): Html =>
  formField(
    {
      name: 'password',
      label,
      type: 'password',
      reveal: words.reveal,
      autocomplete: 'new-password',
      hint: words.signUp.passwordHint(passwordLengthLimits.minimum),
      enterKey: 'done',
      focus,
    },
    faults,
  );
