import type { Credential, Selection } from '../../accounts/account-credentials.ts';
import { moment } from './account-pages.ts';
import { html, type Html } from './html.ts';
import { checkbox, field, hidden, page, type Fault, type Setting } from './page-layout.ts';
import { newPasswordField } from './sign-up-page.ts';
import type { Words } from '../messages/english-messages.ts';

export type NewPasswordPage = {
  readonly csrf: string;
  readonly email: string;
  /** Credentials of the account other than the password. */
  readonly credentials: readonly Credential[];
  /** Keys of the credentials that the user has chosen to keep. */
  readonly keep: ReadonlySet<string>;
  readonly faults: readonly Fault[];
};

/** Renders the page to which the link of a password reset leads. */
export function newPasswordPage(setting: Setting, content: NewPasswordPage): Html {
  const { passwordReset: words, confirmSignUp } = setting.words;
  const { csrf, email, faults } = content;
  return page(
    setting,
    words.title,
    html`<h1>${words.title}</h1>
      <p class="quiet">${confirmSignUp.address(email)}</p>
      <form method="post" novalidate>
        ${hidden('csrf', csrf)}<input type="hidden" autocomplete="username" name="username" value="${email}" />
        ${newPasswordField(setting, words.newPassword, faults, true)}${keepChoices(setting, content)}
        <p class="quiet">${words.everywhere}</p>
        <button type="submit">${words.save}</button>
      </form>`,
    faults,
  );
}

function keepChoices(setting: Setting, { credentials, keep, faults }: NewPasswordPage): Html | undefined {
  const { passwordReset: words, secondFactor } = setting.words;
  if (credentials.length === 0) return undefined;
  const code = {
    name: 'code',
    label: secondFactor.code,
    autocomplete: 'one-time-code',
    hint: words.codeHint,
    enterKey: 'done',
    optional: true,
  } as const;
  return html`<fieldset class="field">
      <legend>${words.keepTitle}</legend>
      <p class="hint">${words.keepText}</p>
      ${credentials.map((credential) =>
        checkbox({
          name: 'keep',
          value: credential.key,
          label: setting.words.credential.keep(credentialName(setting.words, credential)),
          details: credentialDates(setting, credential),
          checked: keep.has(credential.key),
        }),
      )}
    </fieldset>
    ${credentials.some(({ kind }) => kind === 'authenticator_app') && field(code, faults)}`;
}

/** Renders the page after a password reset, with the removed and the kept credentials. */
export function passwordResetDonePage(setting: Setting, { removed, kept }: Selection): Html {
  const { passwordReset: words, signUp } = setting.words;
  return page(
    setting,
    words.doneTitle,
    html`<h1>${words.doneTitle}</h1>
      <p role="status">${words.done}</p>
      ${credentialList(setting, words.removed, removed)}${credentialList(setting, words.kept, kept)}
      <p class="elsewhere"><a href="/sign-in">${signUp.toSignIn}</a></p>`,
  );
}

const credentialList = ({ words }: Setting, title: string, credentials: readonly Credential[]): Html | undefined =>
  credentials.length === 0
    ? undefined
    : html`<section>
        <h2>${title}</h2>
        <ul class="can">
          ${credentials.map((credential) => html`<li>${credentialName(words, credential)}</li>`)}
        </ul>
      </section>`;

/**
 * Returns the display name of a credential.
 * @param escapeName escapes a user-chosen name
 */
export function credentialName(
  { credential: words }: Words,
  { kind, name, prefix }: Credential,
  escapeName = (text: string): string => text,
): string {
  if (kind === 'authenticator_app') return words.authenticatorApp;
  return kind === 'passkey' ? words.passkey(escapeName(name)) : words.apiKey(escapeName(name), prefix);
}

const credentialDates = (setting: Setting, { createdAt, lastUsedAt }: Credential): string[] => {
  const { credential: words } = setting.words;
  return [words.created(moment(setting, createdAt)), lastUsedAt === null ? words.neverUsed : words.lastUsed(moment(setting, lastUsedAt))];
};
