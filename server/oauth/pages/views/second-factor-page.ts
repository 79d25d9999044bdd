import { html, type Html } from './html.ts';
import { field, hidden, page, type Fault, type Setting } from './page-layout.ts';
import { passkeyForm } from './sign-in-page.ts';

export type SecondFactorPage = {
  readonly csrf: string;
  /** Encrypted second-step ticket, which proves that the password was correct. */
  readonly proof: string;
  readonly path: string;
  readonly next: string;
  readonly passkeyRequest: string;
  readonly faults?: readonly Fault[];
};

export function secondFactorPage(setting: Setting, content: SecondFactorPage): Html {
  const { secondFactor, passkey } = setting.words;
  const { csrf, proof, path, faults = [] } = content;
  return page(
    setting,
    secondFactor.title,
    html`<h1>${secondFactor.title}</h1>
      <form method="post" action="${path}/second-factor" novalidate>
        ${hidden('csrf', csrf)}${hidden('proof', proof)}
        ${field({ name: 'code', label: secondFactor.code, autocomplete: 'one-time-code', hint: secondFactor.codeHint, digits: { count: 6, note: secondFactor.byItself }, enterKey: 'done', focus: true }, faults)}
        <button type="submit">${secondFactor.submit}</button>
      </form>
      ${passkeyForm(`${path}/passkey`, passkey.use, content)}`,
    faults,
  );
}
