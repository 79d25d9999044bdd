import { scopes } from '@mandate/contract';
import { loopbackHosts } from '../../applications/redirect-uri.ts';
import { html, type Html } from './html.ts';
import { hidden, page, type Setting } from './page.ts';

export type ConsentPage = {
  readonly csrf: string;
  readonly application: { readonly name: string; readonly firstParty: boolean; readonly logo: string | undefined };
  /** Host of the client ID metadata document, when the application is identified by one. */
  readonly documentHost: string | undefined;
  readonly selfRegistered: boolean;
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
          ${content.documentHost !== undefined && html`<p>${consent.identifiedBy} <strong>${content.documentHost}</strong></p>`}
          <p>${application.firstParty ? consent.verified(shop.name) : consent.notVerified(shop.name)}</p>
          <p>${origin(setting, content.returnTo)}</p>
          ${content.selfRegistered && staysHere(content.returnTo) && html`<p class="warning">${consent.anyProgram}</p>`}
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
  return staysHere(returnTo) ? words.consent.fromThisComputer : words.consent.from(new URL(returnTo).host);
}

/** Whether the answer goes to a program on this machine, by a loopback address or a scheme of its own. */
function staysHere(returnTo: string | undefined): boolean {
  if (returnTo === undefined) return false;
  const { protocol, hostname } = new URL(returnTo);
  return loopbackHosts.has(hostname) || !/^https?:$/.test(protocol);
}
