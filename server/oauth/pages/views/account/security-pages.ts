import { html, Html } from '../../../../http/response/html-template.ts';
import { renderAccountSubpage } from './account-subpage-layout-and-basic-forms.ts';
import { formatTimestamp } from '../format-time-and-money.ts';
import { formField, hiddenField, linkButton, renderPage, type FieldError, type PageSettings } from '../page-layout-and-form-fields.ts';
import { copySettingsWithFormLanguageSwitch } from '../../layout/language-switch.ts';

export type SecurityPageViewModel = {
  readonly csrf: string;
  readonly appAddedAt: Date | undefined;
  readonly codesLeft: number;
  readonly passkeys: readonly { readonly id: number; readonly name: string; readonly addedAt: Date }[];
  readonly linkedAccounts: readonly { readonly id: number; readonly issuer: string; readonly label: string; readonly linkedAt: Date }[];
  /** Providers that the user can link. */
  readonly providers: readonly { readonly slug: string; readonly name: string; readonly issuer: string }[];
  /** Suggested name for a new passkey. */
  readonly passkeyName: string;
  /** JSON options for creating a passkey in the browser. */
  readonly passkeyOptions: string;
  readonly faults?: readonly FieldError[];
};

export function securityPage(settings: PageSettings, content: SecurityPageViewModel): Html {
  const { security: messages } = settings.messages;
  return renderAccountSubpage(
    settings,
    messages.title,
    html`<p>${messages.text}</p>
      ${appSection(settings, content)}${passkeySection(settings, content)}${linkedAccountSection(settings, content)}`,
    content.faults,
  );
}

function appSection(settings: PageSettings, { csrf, appAddedAt, codesLeft }: SecurityPageViewModel): Html {
  const { security: messages } = settings.messages;
  if (appAddedAt === undefined) {
    return html`<section>
      <h2>${messages.appTitle}</h2>
      <p class="quiet">${messages.appOff}</p>
      ${linkButton('/account/authenticator-app', messages.appAdd)}
    </section>`;
  }
  return html`<section>
      <h2>${messages.appTitle}</h2>
      <p class="quiet">${messages.appOn({ when: formatTimestamp(settings, appAddedAt) })}</p>
      <form method="post" action="/account/authenticator-app/remove">
        ${hiddenField('csrf', csrf)}<button class="danger second">${messages.appRemove}</button>
      </form>
    </section>
    <section>
      <h2>${messages.codesTitle}</h2>
      <p class="quiet">${messages.codesLeft({ left: codesLeft })} ${messages.codesReplaced}</p>
      <form method="post" action="/account/recovery-codes">
        ${hiddenField('csrf', csrf)}<button class="second">${messages.codesNew}</button>
      </form>
    </section>`;
}

function passkeySection(settings: PageSettings, { csrf, passkeys, passkeyName, passkeyOptions, faults = [] }: SecurityPageViewModel): Html {
  const { security: messages } = settings.messages;
  const rows = passkeys.map(
    ({ id, name, addedAt }) =>
      html`<li>
        <div>
          <strong>${name}</strong>
          <p class="quiet">${messages.added({ when: formatTimestamp(settings, addedAt) })}</p>
        </div>
        <form method="post" action="/account/passkeys/remove">
          ${hiddenField('csrf', csrf)}${hiddenField('id', String(id))}
          <button class="danger second small" aria-label="${messages.passkeyRemoveLabel({ name })}">${messages.passkeyRemove}</button>
        </form>
      </li>`,
  );
  return html`<section id="passkeys">
    <h2>${messages.passkeysTitle}</h2>
    <p class="quiet">${messages.passkeysText}</p>
    ${
      rows.length === 0
        ? html`<p class="quiet">${messages.passkeysNone}</p>`
        : html`<ul class="things">
            ${rows}
          </ul>`
    }
    <form method="post" action="/account/passkeys" data-passkey="create" data-options="${passkeyOptions}" hidden novalidate>
      ${hiddenField('csrf', csrf)}${hiddenField('passkey', '')}
      ${formField({ name: 'name', label: messages.passkeyName, value: passkeyName, autocomplete: 'off', enterKey: 'done' }, faults)}
      <button class="second" type="submit">${messages.passkeyAdd}</button>
    </form>
    <noscript><p class="quiet">${messages.passkeyNeedsScript}</p></noscript>
  </section>`;
}

/** Renders the section for accounts at identity providers. Returns undefined if there are neither linked accounts nor providers. */
function linkedAccountSection(settings: PageSettings, { csrf, linkedAccounts, providers }: SecurityPageViewModel): Html | undefined {
  const { providers: messages } = settings.messages;
  if (linkedAccounts.length === 0 && providers.length === 0) return undefined;
  const rows = linkedAccounts.map(({ id, issuer, label, linkedAt }) => {
    const provider = providers.find((one) => one.issuer === issuer)?.name ?? new URL(issuer).host;
    const account = messages.account({ account: label, provider });
    return html`<li>
      <div>
        <strong>${account}</strong>
        <p class="quiet">${messages.added({ when: formatTimestamp(settings, linkedAt) })}</p>
      </div>
      <form method="post" action="/account/linked-accounts/remove">
        ${hiddenField('csrf', csrf)}${hiddenField('id', String(id))}
        <button class="danger second small" aria-label="${messages.removeLabel({ account })}">${messages.remove}</button>
      </form>
    </li>`;
  });
  return html`<section id="linked-accounts">
    <h2>${messages.sectionTitle}</h2>
    <p class="quiet">${messages.sectionText}</p>
    ${
      rows.length > 0 &&
      html`<ul class="things">
        ${rows}
      </ul>`
    }
    ${providers.map(
      ({ slug, name }) =>
        html`<form method="post" action="/account/linked-accounts">
          ${hiddenField('csrf', csrf)}${hiddenField('slug', slug)}<button class="second">${messages.add({ provider: name })}</button>
        </form>`,
    )}
  </section>`;
}

/** Renders a hidden button that copies text. The page script shows the button. */
const copyButton = ({ messages: { copy } }: PageSettings, text: string): Html =>
  html`<button class="second" type="button" data-copy="${text}" data-copied="${copy.copied}" aria-live="polite" hidden>
    ${copy.copy}
  </button>`;

type RecoveryCodesPageViewModel = { readonly csrf: string; readonly codes: readonly string[]; readonly sealed: string };

export type AuthenticatorAppSetupPageViewModel = {
  readonly csrf: string;
  /** Encrypted TOTP secret. The secret is stored only after the user has entered a code generated from this secret. */
  readonly sealed: string;
  readonly secret: string;
  /** The `otpauth:` URI that contains the secret. */
  readonly uri: string;
  /** The URI as a QR code in SVG, generated by the server. */
  readonly picture: string;
  readonly faults?: readonly FieldError[];
};

export function authenticatorAppSetupPage(
  settings: PageSettings,
  { csrf, sealed, secret, uri, picture, faults = [] }: AuthenticatorAppSetupPageViewModel,
): Html {
  const { setUpApp: messages } = settings.messages;
  const groups = secret.match(/.{1,4}/g)?.join(' ') ?? secret;
  return renderAccountSubpage(
    settings,
    messages.title,
    html`<p>${messages.scan}</p>
      <div class="picture" role="img" aria-label="${messages.picture}">${new Html(picture)}</div>
      <p class="key"><code>${groups}</code></p>
      <div class="choice tools">${copyButton(settings, secret)}<a class="button" href="${uri}">${messages.open}</a></div>
      <form method="post" action="/account/authenticator-app" novalidate>
        ${hiddenField('csrf', csrf)}${hiddenField('sealed', sealed)}
        ${formField({ name: 'code', label: messages.code, autocomplete: 'one-time-code', inputMode: 'numeric', digits: { count: 6, note: settings.messages.secondFactor.byItself }, hint: messages.codeHint, enterKey: 'done' }, faults)}
        <button type="submit">${messages.submit}</button>
      </form>`,
    faults,
    { path: '/account/security', text: settings.messages.security.title },
  );
}

/** Renders new recovery codes. `sealed` contains the encrypted codes, so that the page can be shown again in a different language. */
export function recoveryCodesPage(settings: PageSettings, { csrf, codes, sealed }: RecoveryCodesPageViewModel): Html {
  const { recoveryCodes: messages } = settings.messages;
  return renderPage(
    copySettingsWithFormLanguageSwitch(settings, 'codes'),
    messages.title,
    html`<h1>${messages.title}</h1>
      <p role="status">${messages.text}</p>
      <ol class="codes">
        ${codes.map((code) => html`<li><code>${code}</code></li>`)}
      </ol>
      <div class="choice tools">
        ${copyButton(settings, codes.join('\n'))}
        <button class="second" form="codes-file">${messages.download}</button>
        <button class="second" type="button" data-print hidden>${messages.print}</button>
      </div>
      ${linkButton('/account/security', messages.done)}
      <form id="codes" method="post" action="/account/recovery-codes/shown">
        ${hiddenField('csrf', csrf)}${hiddenField('sealed', sealed)}
      </form>
      <form id="codes-file" method="post" action="/account/recovery-codes/file">
        ${hiddenField('csrf', csrf)}${hiddenField('sealed', sealed)}
      </form>`,
  );
}
