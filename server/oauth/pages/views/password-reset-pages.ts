import type { AccountCredential, CredentialSelection } from '../../accounts/account-credentials.ts';
import { formatTimestamp } from './account-pages.ts';
import { html, type Html } from '../../../http/response/html.ts';
import { checkboxField, formField, hiddenField, renderPage, type FieldError, type PageSettings } from './page-layout.ts';
import { newPasswordField } from './sign-up-page.ts';
import type { PageMessages } from '../messages/english-messages.ts';

export type NewPasswordPageContent = {
  readonly csrf: string;
  readonly email: string;
  /** Credentials of the account other than the password. */
  readonly credentials: readonly AccountCredential[];
  /** Keys of the credentials that the user has chosen to keep. */
  readonly keep: ReadonlySet<string>;
  readonly faults: readonly FieldError[];
};

/** Renders the page to which the link of a password reset leads. */
export function newPasswordPage(setting: PageSettings, content: NewPasswordPageContent): Html {
  const { passwordReset: words, confirmSignUp } = setting.words;
  const { csrf, email, faults } = content;
  return renderPage(
    setting,
    words.title,
    html`<h1>${words.title}</h1>
      <p class="quiet">${confirmSignUp.address(email)}</p>
      <form method="post" novalidate>
        ${hiddenField('csrf', csrf)}<input type="hidden" autocomplete="username" name="username" value="${email}" />
        ${newPasswordField(setting, words.newPassword, faults, true)}${keepChoices(setting, content)}
        <p class="quiet">${words.everywhere}</p>
        <button type="submit">${words.save}</button>
      </form>`,
    faults,
  );
}

function keepChoices(setting: PageSettings, { credentials, keep, faults }: NewPasswordPageContent): Html | undefined {
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
        checkboxField({
          name: 'keep',
          value: credential.key,
          label: setting.words.credential.keep(describeCredential(setting.words, credential)),
          details: credentialDates(setting, credential),
          checked: keep.has(credential.key),
        }),
      )}
    </fieldset>
    ${credentials.some(({ kind }) => kind === 'authenticator_app') && formField(code, faults)}`;
}

/** Renders the page after a password reset, with the removed and the kept credentials. */
export function passwordResetDonePage(setting: PageSettings, { removed, kept }: CredentialSelection): Html {
  const { passwordReset: words, signUp } = setting.words;
  return renderPage(
    setting,
    words.doneTitle,
    html`<h1>${words.doneTitle}</h1>
      <p role="status">${words.done}</p>
      ${credentialList(setting, words.removed, removed)}${credentialList(setting, words.kept, kept)}
      <p class="elsewhere"><a href="/sign-in">${signUp.toSignIn}</a></p>`,
  );
}

const credentialList = ({ words }: PageSettings, title: string, credentials: readonly AccountCredential[]): Html | undefined =>
  credentials.length === 0
    ? undefined
    : html`<section>
        <h2>${title}</h2>
        <ul class="can">
          ${credentials.map((credential) => html`<li>${describeCredential(words, credential)}</li>`)}
        </ul>
      </section>`;

/**
 * Returns the display name of a credential.
 * @param escapeName escapes a user-chosen name
 */
export function describeCredential(
  { credential: words }: PageMessages,
  { kind, name, prefix }: AccountCredential,
  escapeName = (text: string): string => text,
): string {
  if (kind === 'authenticator_app') return words.authenticatorApp;
  return kind === 'passkey' ? words.passkey(escapeName(name)) : words.apiKey(escapeName(name), prefix);
}

const credentialDates = (setting: PageSettings, { createdAt, lastUsedAt }: AccountCredential): string[] => {
  const { credential: words } = setting.words;
  return [
    words.created(formatTimestamp(setting, createdAt)),
    lastUsedAt === null ? words.neverUsed : words.lastUsed(formatTimestamp(setting, lastUsedAt)),
  ];
};
