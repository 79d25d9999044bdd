import { html, type Html } from '../../../../http/response/html-template.ts';
import {
  emphasizeValue,
  formField,
  hiddenField,
  linkButton,
  renderPage,
  type FieldError,
  type PageSettings,
} from '../page-layout-and-form-fields.ts';

export const emailSentPage = (settings: PageSettings, email: string, againPath: string): Html => {
  const { title, text, nothing, again } = settings.messages.mailSent;
  return renderPage(
    settings,
    title,
    html`<h1>${title}</h1>
      <p role="status">${emphasizeValue(text({ email }), email)}</p>
      <p class="quiet">${nothing}</p>
      <p class="elsewhere"><a href="${againPath}">${again}</a></p>`,
  );
};

export const linkExpiredPage = (settings: PageSettings, againPath: string): Html => {
  const { title, text, again } = settings.messages.linkExpired;
  return renderPage(
    settings,
    title,
    html`<h1>${title}</h1>
      <p>${text}</p>
      ${linkButton(againPath, again)}`,
  );
};

type Form = { readonly csrf: string; readonly email: string; readonly faults: readonly FieldError[] };

export function requestPasswordResetPage(settings: PageSettings, { csrf, email, faults }: Form): Html {
  const { passwordReset: messages } = settings.messages;
  return renderPage(
    settings,
    messages.requestTitle,
    html`<h1>${messages.requestTitle}</h1>
      <form method="post" novalidate>
        ${hiddenField('csrf', csrf)}
        ${formField({ name: 'email', label: settings.messages.email, type: 'email', value: email, autocomplete: 'username', hint: messages.hint, enterKey: 'done', focus: true }, faults)}
        <button type="submit">${messages.submit}</button>
      </form>
      <p class="elsewhere"><a href="/sign-in">${settings.messages.tooMany.back}</a></p>`,
    faults,
  );
}

export function confirmEmailChangePage(settings: PageSettings, { csrf, email }: Omit<Form, 'faults'>): Html {
  const { changeEmail: messages } = settings.messages;
  return renderPage(
    settings,
    messages.confirmTitle,
    html`<h1>${messages.confirmTitle}</h1>
      <p>${emphasizeValue(messages.confirm({ email }), email)}</p>
      <form method="post">${hiddenField('csrf', csrf)}<button type="submit">${messages.confirmSubmit}</button></form>
      ${linkButton('/account', messages.confirmCancel, 'second')}`,
  );
}
