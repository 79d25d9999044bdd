import { html, type Html } from '../../../../http/response/html-template.ts';
import { formField, hiddenField, renderPage, type FieldError, type PageSettings } from '../page-layout-and-form-fields.ts';
import { copySettingsWithFormLanguageSwitch } from '../../layout/language-switch.ts';
import { renderPasskeySignInForm } from './sign-in-page.ts';

export type SecondFactorPageViewModel = {
  readonly csrf: string;
  /** Encrypted ticket (`issueFirstFactorTicket`), which proves that the user has completed the first factor. */
  readonly proof: string;
  readonly path: string;
  readonly next: string;
  readonly passkeyRequest: string;
  readonly faults?: readonly FieldError[];
};

export function secondFactorPage(settings: PageSettings, content: SecondFactorPageViewModel): Html {
  const { secondFactor, passkey } = settings.messages;
  const { csrf, proof, path, faults = [] } = content;
  return renderPage(
    copySettingsWithFormLanguageSwitch(settings, 'second-factor-form', faults),
    secondFactor.title,
    html`<h1>${secondFactor.title}</h1>
      <form id="second-factor-form" method="post" action="${path}/second-factor" novalidate>
        ${hiddenField('csrf', csrf)}${hiddenField('proof', proof)}
        ${formField({ name: 'code', label: secondFactor.code, autocomplete: 'one-time-code', hint: secondFactor.codeHint, digits: { count: 6, note: secondFactor.byItself }, enterKey: 'done', focus: true }, faults)}
        <button type="submit">${secondFactor.submit}</button>
      </form>
      ${renderPasskeySignInForm(settings, `${path}/passkey`, passkey.use, content)}`,
    faults,
  );
}
