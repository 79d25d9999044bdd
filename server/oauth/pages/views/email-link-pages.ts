import { html, type Html } from '../../../http/response/html.ts';
import { formField, hiddenField, renderPage, type FieldError, type PageSettings } from './page-layout.ts';

export const emailSentPage = (setting: PageSettings, email: string, againPath: string): Html => {
  const { title, text, nothing, again } = setting.words.mailSent;
  return renderPage(
    setting,
    title,
    html`<h1>${title}</h1>
      <p role="status">${text(email)}</p>
      <p class="quiet">${nothing}</p>
      <p class="elsewhere"><a href="${againPath}">${again}</a></p>`,
  );
};

export const linkExpiredPage = (setting: PageSettings, againPath: string): Html => {
  const { title, text, again } = setting.words.linkOver;
  return renderPage(
    setting,
    title,
    html`<h1>${title}</h1>
      <p>${text}</p>
      <p class="elsewhere"><a href="${againPath}">${again}</a></p>`,
  );
};

type Form = { readonly csrf: string; readonly email: string; readonly faults: readonly FieldError[] };

export function requestPasswordResetPage(setting: PageSettings, { csrf, email, faults }: Form): Html {
  const { passwordReset: words } = setting.words;
  return renderPage(
    setting,
    words.title,
    html`<h1>${words.title}</h1>
      <form method="post" novalidate>
        ${hiddenField('csrf', csrf)}
        ${formField({ name: 'email', label: setting.words.email, type: 'email', value: email, autocomplete: 'username', hint: words.hint, enterKey: 'done', focus: true }, faults)}
        <button type="submit">${words.submit}</button>
      </form>
      <p class="elsewhere"><a href="/sign-in">${setting.words.signUp.toSignIn}</a></p>`,
    faults,
  );
}

export function confirmEmailPage(setting: PageSettings, { csrf, email }: Omit<Form, 'faults'>): Html {
  const { changeEmail: words } = setting.words;
  return renderPage(
    setting,
    words.confirmTitle,
    html`<h1>${words.confirmTitle}</h1>
      <p>${words.confirm(email)}</p>
      <form method="post">${hiddenField('csrf', csrf)}<button type="submit">${words.confirmSubmit}</button></form>`,
  );
}
