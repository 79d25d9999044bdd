import { html, type Html } from '../../../http/response/html.ts';
import { formField, hiddenField, renderPage, type FieldError, type PageSettings } from './page-layout.ts';

export type EmailCodePageContent = {
  readonly csrf: string;
  /** Encrypted state of the sign-in (`email-code.ts`). */
  readonly proof: string;
  readonly path: string;
  readonly faults: readonly FieldError[];
};

export function emailCodePage(setting: PageSettings, { csrf, proof, path, faults }: EmailCodePageContent): Html {
  const { emailCode: words, tooMany } = setting.words;
  return renderPage(
    setting,
    words.title,
    html`<h1>${words.title}</h1>
      <p role="status">${words.text}</p>
      <form method="post" action="${path}/e-mail-code" novalidate>
        ${hiddenField('csrf', csrf)}${hiddenField('proof', proof)}
        ${formField({ name: 'code', label: words.code, autocomplete: 'one-time-code', enterKey: 'done', focus: true }, faults)}
        <button type="submit">${words.submit}</button>
      </form>
      <p class="quiet">${words.late}</p>
      <p class="elsewhere"><a href="${path}">${tooMany.back}</a></p>`,
    faults,
  );
}
