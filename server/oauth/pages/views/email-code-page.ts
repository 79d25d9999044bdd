import { html, type Html } from './html.ts';
import { field, hidden, page, type Fault, type Setting } from './page-layout.ts';

export type EmailCodePage = {
  readonly csrf: string;
  /** Encrypted state of the sign-in (`email-code.ts`). */
  readonly proof: string;
  readonly path: string;
  readonly faults: readonly Fault[];
};

export function emailCodePage(setting: Setting, { csrf, proof, path, faults }: EmailCodePage): Html {
  const { emailCode: words, tooMany } = setting.words;
  return page(
    setting,
    words.title,
    html`<h1>${words.title}</h1>
      <p role="status">${words.text}</p>
      <form method="post" action="${path}/e-mail-code" novalidate>
        ${hidden('csrf', csrf)}${hidden('proof', proof)}
        ${field({ name: 'code', label: words.code, autocomplete: 'one-time-code', enterKey: 'done', focus: true }, faults)}
        <button type="submit">${words.submit}</button>
      </form>
      <p class="quiet">${words.late}</p>
      <p class="elsewhere"><a href="${path}">${tooMany.back}</a></p>`,
    faults,
  );
}
