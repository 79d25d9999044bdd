import { html, Html } from './html.ts';
import { accountPart, moment } from './account-pages.ts';
import { field, hidden, page, type Fault, type Setting } from './page-layout.ts';

export type SecurityPage = {
  readonly csrf: string;
  readonly appAddedAt: Date | undefined;
  readonly codesLeft: number;
  readonly passkeys: readonly { readonly id: number; readonly name: string; readonly addedAt: Date }[];
  /** What the browser is asked to make a passkey for. */
  readonly passkeyOptions: string;
  readonly faults?: readonly Fault[];
};

export function securityPage(setting: Setting, content: SecurityPage): Html {
  const { security: words } = setting.words;
  return accountPart(
    setting,
    words.title,
    html`<p>${words.text}</p>
      ${appSection(setting, content)}${passkeySection(setting, content)}`,
    content.faults,
  );
}

function appSection(setting: Setting, { csrf, appAddedAt, codesLeft }: SecurityPage): Html {
  const { security: words } = setting.words;
  if (appAddedAt === undefined) {
    return html`<section>
      <h2>${words.appTitle}</h2>
      <p class="quiet">${words.appOff}</p>
      <p class="elsewhere"><a class="button" href="/account/authenticator-app">${words.appAdd}</a></p>
    </section>`;
  }
  return html`<section>
      <h2>${words.appTitle}</h2>
      <p class="quiet">${words.appOn(moment(setting, appAddedAt))}</p>
      <form method="post" action="/account/authenticator-app/remove">
        ${hidden('csrf', csrf)}<button class="second">${words.appRemove}</button>
      </form>
    </section>
    <section>
      <h2>${words.codesTitle}</h2>
      <p class="quiet">${words.codesLeft(codesLeft)}</p>
      <form method="post" action="/account/recovery-codes">${hidden('csrf', csrf)}<button class="second">${words.codesNew}</button></form>
    </section>`;
}

function passkeySection(setting: Setting, { csrf, passkeys, passkeyOptions, faults = [] }: SecurityPage): Html {
  const { security: words } = setting.words;
  const rows = passkeys.map(
    ({ id, name, addedAt }) =>
      html`<li>
        <div>
          <strong>${name}</strong>
          <p class="quiet">${words.added(moment(setting, addedAt))}</p>
        </div>
        <form method="post" action="/account/passkeys/remove">
          ${hidden('csrf', csrf)}${hidden('id', String(id))}
          <button class="second small" aria-label="${words.passkeyRemoveLabel(name)}">${words.passkeyRemove}</button>
        </form>
      </li>`,
  );
  return html`<section>
    <h2>${words.passkeysTitle}</h2>
    <p class="quiet">${words.passkeysText}</p>
    ${
      rows.length === 0
        ? html`<p class="quiet">${words.passkeysNone}</p>`
        : html`<ul class="things">
            ${rows}
          </ul>`
    }
    <form method="post" action="/account/passkeys" data-passkey="create" data-options="${passkeyOptions}" hidden novalidate>
      ${hidden('csrf', csrf)}${hidden('passkey', '')}
      ${field({ name: 'name', label: words.passkeyName, value: words.passkeyDefault, autocomplete: 'off', enterKey: 'done' }, faults)}
      <button class="second" type="submit">${words.passkeyAdd}</button>
    </form>
    <noscript><p class="quiet">${words.passkeyNeedsScript}</p></noscript>
  </section>`;
}

export type SetUpAppPage = {
  readonly csrf: string;
  /** The key, sealed: it is kept only once a code made with it has come back. */
  readonly sealed: string;
  readonly secret: string;
  /** An SVG of our own making. */
  readonly picture: string;
  readonly faults?: readonly Fault[];
};

export function setUpAppPage(setting: Setting, { csrf, sealed, secret, picture, faults = [] }: SetUpAppPage): Html {
  const { setUpApp: words } = setting.words;
  const groups = secret.match(/.{1,4}/g)?.join(' ') ?? secret;
  return accountPart(
    setting,
    words.title,
    html`<p>${words.scan}</p>
      <div class="picture" role="img" aria-label="${words.picture}">${new Html(picture)}</div>
      <p class="key"><code>${groups}</code></p>
      <form method="post" action="/account/authenticator-app" novalidate>
        ${hidden('csrf', csrf)}${hidden('sealed', sealed)}
        ${field({ name: 'code', label: words.code, autocomplete: 'one-time-code', inputMode: 'numeric', digits: { count: 6, note: setting.words.secondFactor.byItself }, hint: words.codeHint, enterKey: 'done' }, faults)}
        <button type="submit">${words.submit}</button>
      </form>`,
    faults,
  );
}

export function recoveryCodesPage(setting: Setting, codes: readonly string[]): Html {
  const { recoveryCodes: words } = setting.words;
  return page(
    setting,
    words.title,
    html`<h1>${words.title}</h1>
      <p role="status">${words.text}</p>
      <ol class="codes">
        ${codes.map((code) => html`<li><code>${code}</code></li>`)}
      </ol>
      <p class="elsewhere"><a class="button" href="/account/security">${words.done}</a></p>`,
  );
}
