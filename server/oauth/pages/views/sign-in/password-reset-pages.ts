import type { AccountCredential, CredentialSelection } from '../../../accounts/list-and-remove-non-password-credentials.ts';
import { formatTimestamp } from '../format-time-and-money.ts';
import { html, type Html } from '../../../../http/response/html-template.ts';
import {
  checkboxField,
  emphasizeValue,
  formField,
  hiddenField,
  linkButton,
  renderPage,
  type FieldError,
  type PageSettings,
} from '../page-layout-and-form-fields.ts';
import { newPasswordField } from './sign-up-pages-and-password-field.ts';
import type { Messages } from '../../../../languages/languages.ts';

export type NewPasswordPageViewModel = {
  readonly csrf: string;
  readonly email: string;
  /** Account credentials other than the password. */
  readonly credentials: readonly AccountCredential[];
  /** Keys of the credentials that the user has chosen to keep. */
  readonly keep: ReadonlySet<string>;
  readonly faults: readonly FieldError[];
};

/** Renders the page that a password reset link opens. */
export function newPasswordPage(settings: PageSettings, content: NewPasswordPageViewModel): Html {
  const { passwordReset: messages, confirmSignUp } = settings.messages;
  const { csrf, email, faults } = content;
  return renderPage(
    settings,
    messages.title,
    html`<h1>${messages.title}</h1>
      <p class="quiet">${emphasizeValue(confirmSignUp.address({ email }), email)}</p>
      <form method="post" novalidate>
        ${hiddenField('csrf', csrf)}<input type="hidden" autocomplete="username" name="username" value="${email}" />
        ${newPasswordField(settings, messages.newPassword, faults, true)}${keepChoices(settings, content)}
        <p class="quiet">${messages.everywhere}</p>
        <button type="submit">${messages.save}</button>
      </form>`,
    faults,
  );
}

function keepChoices(settings: PageSettings, { credentials, keep, faults }: NewPasswordPageViewModel): Html | undefined {
  const { passwordReset: messages, secondFactor } = settings.messages;
  if (credentials.length === 0) return undefined;
  const code = {
    name: 'code',
    label: secondFactor.code,
    autocomplete: 'one-time-code',
    hint: messages.codeHint,
    enterKey: 'done',
    optional: true,
  } as const;
  return html`<fieldset class="field">
      <legend>${messages.keepTitle}</legend>
      <p class="hint">${messages.keepText}</p>
      ${credentials.map((credential) =>
        checkboxField({
          name: 'keep',
          value: credential.key,
          label: settings.messages.credential.keep({ credential: formatAccountCredentialName(settings.messages, credential) }),
          details: credentialDates(settings, credential),
          checked: keep.has(credential.key),
        }),
      )}
    </fieldset>
    ${credentials.some(({ kind }) => kind === 'authenticator_app') && formField(code, faults)}`;
}

/** Renders the page that confirms a password reset and lists the removed and the kept credentials. */
export function passwordResetDonePage(settings: PageSettings, { removed, kept }: CredentialSelection): Html {
  const { passwordReset: messages, signUp } = settings.messages;
  return renderPage(
    settings,
    messages.doneTitle,
    html`<h1>${messages.doneTitle}</h1>
      <p role="status">${messages.done}</p>
      ${credentialList(settings, messages.removed, removed)}${credentialList(settings, messages.kept, kept)}
      ${linkButton('/sign-in', signUp.toSignIn)}`,
  );
}

const credentialList = ({ messages }: PageSettings, title: string, credentials: readonly AccountCredential[]): Html | undefined =>
  credentials.length === 0
    ? undefined
    : html`<section>
        <h2>${title}</h2>
        <ul class="can">
          ${credentials.map((credential) => html`<li>${formatAccountCredentialName(messages, credential)}</li>`)}
        </ul>
      </section>`;

/**
 * Returns a credential's display name.
 * @param escapeName escapes a user-chosen name
 */
export function formatAccountCredentialName(
  { credential: messages }: Messages,
  { kind, name, prefix }: AccountCredential,
  escapeName = (text: string): string => text,
): string {
  if (kind === 'authenticator_app') return messages.authenticatorApp;
  if (kind === 'linked_account') return messages.linkedAccount({ name: escapeName(name) });
  return kind === 'passkey' ? messages.passkey({ name: escapeName(name) }) : messages.apiKey({ name: escapeName(name), prefix });
}

const credentialDates = (settings: PageSettings, { createdAt, lastUsedAt }: AccountCredential): string[] => {
  const { credential: messages } = settings.messages;
  return [
    messages.created({ when: formatTimestamp(settings, createdAt) }),
    lastUsedAt === null ? messages.neverUsed : messages.lastUsed({ when: formatTimestamp(settings, lastUsedAt) }),
  ];
};
