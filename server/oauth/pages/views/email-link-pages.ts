import { html, type Html } from './html.ts';
import { field, hidden, page, type Fault, type Setting } from './page-layout.ts';

export const mailSentPage = (setting: Setting, email: string, againPath: string): Html => {
  const { title, text, nothing, again } = setting.words.mailSent;
  return page(
    setting,
    title,
    html`<h1>${title}</h1>
      <p role="status">${text(email)}</p>
      <p class="quiet">${nothing}</p>
      <p class="elsewhere"><a href="${againPath}">${again}</a></p>`,
  );
};

export const linkOverPage = (setting: Setting, againPath: string): Html => {
  const { title, text, again } = setting.words.linkOver;
  return page(
    setting,
    title,
    html`<h1>${title}</h1>
      <p>${text}</p>
      <p class="elsewhere"><a href="${againPath}">${again}</a></p>`,
  );
};

type Form = { readonly csrf: string; readonly email: string; readonly faults: readonly Fault[] };

export function passwordResetPage(setting: Setting, { csrf, email, faults }: Form): Html {
  const { passwordReset: words } = setting.words;
  return page(
    setting,
    words.title,
    html`<h1>${words.title}</h1>
      <form method="post" novalidate>
        ${hidden('csrf', csrf)}
        ${field({ name: 'email', label: setting.words.email, type: 'email', value: email, autocomplete: 'username', hint: words.hint, enterKey: 'done', focus: true }, faults)}
        <button type="submit">${words.submit}</button>
      </form>
      <p class="elsewhere"><a href="/sign-in">${setting.words.signUp.toSignIn}</a></p>`,
    faults,
  );
}

export function confirmEmailPage(setting: Setting, { csrf, email }: Omit<Form, 'faults'>): Html {
  const { changeEmail: words } = setting.words;
  return page(
    setting,
    words.confirmTitle,
    html`<h1>${words.confirmTitle}</h1>
      <p>${words.confirm(email)}</p>
      <form method="post">${hidden('csrf', csrf)}<button type="submit">${words.confirmSubmit}</button></form>`,
  );
}
