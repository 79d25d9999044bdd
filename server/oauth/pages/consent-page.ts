import { scopes } from '@mandate/contract';
import { html, type Html } from './html.ts';
import { hidden, page, type Setting } from './page.ts';

export type ConsentPage = {
  readonly csrf: string;
  readonly application: { readonly name: string; readonly firstParty: boolean; readonly logo: string | undefined };
  /** Undefined for a device. */
  readonly returnTo: string | undefined;
  readonly person: { readonly name: string; readonly email: string };
  /** Of the API: can be unticked one by one. */
  readonly apiScopes: readonly (keyof typeof scopes)[];
  /** About the person: given or not with the whole. */
  readonly identityScopes: readonly ('openid' | 'profile' | 'email' | 'offline_access')[];
  readonly days: number;
};

export function consentPage(setting: Setting, content: ConsentPage): Html {
  const { words, shop } = setting;
  const { consent } = words;
  const { application, person } = content;
  const title = consent.title(application.name, shop.name);
  return page(
    setting,
    title,
    html`${mark(application)}
      <h1>${title}</h1>
      <form method="post">
        ${hidden('csrf', content.csrf)}
        <div class="facts">
          <p>${application.firstParty ? consent.verified(shop.name) : consent.notVerified(shop.name)}</p>
          <p>${origin(setting, content.returnTo)}</p>
          <p>${consent.signedInAs} <strong>${person.name}</strong><br />${person.email}</p>
          ${content.returnTo !== undefined && html`<p class="elsewhere">${consent.notYou} <button class="inline" form="switch">${consent.switch}</button></p>`}
        </div>
        <fieldset>
          <legend>${consent.may(application.name)}</legend>
          ${content.apiScopes.length > 1 && html`<p class="hint">${consent.untick}</p>`}
          <ul class="permissions">
            ${content.identityScopes.map(
              (scope) =>
                html`<li>
                  <div class="given"><span class="tick" aria-hidden="true">✓</span>${words.permission[scope]}</div>
                </li>`,
            )}
            ${content.apiScopes.map((scope) => permission(setting, scope))}
          </ul>
        </fieldset>
        <p class="quiet">${consent.duration(content.days)}</p>
        <div class="choice">
          <button class="second" name="decision" value="cancel">${consent.cancel}</button>
          <button name="decision" value="allow">${consent.allow}</button>
        </div>
      </form>
      ${content.returnTo !== undefined && html`<form id="switch" method="post">${hidden('csrf', content.csrf)}${hidden('decision', 'switch')}</form>`}`,
  );
}

/** Its logo, or the first letter of its name: never a picture that its maker would learn of each time. */
const mark = ({ name, logo }: ConsentPage['application']): Html =>
  logo === undefined
    ? html`<span class="logo" aria-hidden="true">${name.at(0)}</span>`
    : html`<img class="logo" src="${logo}" alt="" width="48" height="48" />`;

const permission = ({ words }: Setting, scope: keyof typeof scopes): Html =>
  html`<li>
  <label${scopes[scope].admin && html` class="careful"`}>
    <input type="checkbox" name="scope" value="${scope}" checked />
    <span>${scopes[scope].consent}${scopes[scope].admin && html`<small>${words.consent.careful}</small>`}</span>
  </label>
</li>`;

function origin({ words }: Setting, returnTo: string | undefined): string {
  if (returnTo === undefined) return words.consent.fromADevice;
  const { protocol, host, hostname } = new URL(returnTo);
  const here = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname) || !/^https?:$/.test(protocol);
  return here ? words.consent.fromThisComputer : words.consent.from(host);
}
