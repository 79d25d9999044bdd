import { html, type Html } from '../../../../http/response/html-template.ts';
import { formField, hiddenField, renderPage, type FieldError, type PageSettings } from '../page-layout-and-form-fields.ts';
import { copySettingsWithFormLanguageSwitch } from '../../layout/language-switch.ts';

export type EmailCodePageViewModel = {
  readonly csrf: string;
  /** Encrypted sign-in state (`require-email-code-after-failed-attempts.ts`). */
  readonly proof: string;
  readonly path: string;
  readonly faults: readonly FieldError[];
};

export function emailCodePage(settings: PageSettings, { csrf, proof, path, faults }: EmailCodePageViewModel): Html {
  const { emailCode: messages, tooMany } = settings.messages;
  return renderPage(
    copySettingsWithFormLanguageSwitch(settings, 'e-mail-code-form', faults),
    messages.title,
    html`<h1>${messages.title}</h1>
      <p role="status">${messages.text}</p>
      <form id="e-mail-code-form" method="post" action="${path}/e-mail-code" novalidate>
        ${hiddenField('csrf', csrf)}${hiddenField('proof', proof)}
        ${formField({ name: 'code', label: messages.code, autocomplete: 'one-time-code', enterKey: 'done', focus: true }, faults)}
        <button type="submit">${messages.submit}</button>
      </form>
      <p class="quiet">${messages.late}</p>
      <p class="elsewhere"><a href="${path}">${tooMany.back}</a></p>`,
    faults,
  );
}
