import { getRolesAllowedForScope, scopeDefinitions } from '@mandate/contract';
import { loopbackHostNames } from '../../../applications/validate-redirect-uri.ts';
import { html, type Html } from '../../../http/response/html-template.ts';
import { orderLimitsFields, type OrderLimitsFieldsViewModel } from './order-limits-fields-and-page.ts';
import { hiddenField, renderPage, type PageSettings } from './page-layout-and-form-fields.ts';

export type ConsentPageViewModel = {
  readonly csrf: string;
  readonly application: { readonly name: string; readonly firstParty: boolean; readonly logo: string | undefined };
  /** Host of the client ID metadata document, if such a document identifies the application. */
  readonly documentHost: string | undefined;
  readonly selfRegistered: boolean;
  /** Redirect URI; undefined in the device flow. */
  readonly returnTo: string | undefined;
  readonly person: { readonly name: string; readonly email: string };
  /** Requested API scopes, each of which the user can deselect. */
  readonly apiScopes: readonly (keyof typeof scopeDefinitions)[];
  /** Requested API scopes that the user's role does not permit. */
  readonly beyondRole: readonly (keyof typeof scopeDefinitions)[];
  /** OpenID Connect scopes, which the user cannot deselect individually. */
  readonly identityScopes: readonly ('openid' | 'profile' | 'email' | 'offline_access')[];
  readonly days: number;
  /** Limits for orders; undefined if the application can neither order nor pay. */
  readonly orderLimits: Omit<OrderLimitsFieldsViewModel, 'applicationName'> | undefined;
};

const hasNothingToGrant = ({ apiScopes, identityScopes }: ConsentPageViewModel): boolean => apiScopes.length + identityScopes.length === 0;

export function consentPage(settings: PageSettings, content: ConsentPageViewModel): Html {
  const { messages, shop } = settings;
  const { consent } = messages;
  const { application, person } = content;
  const title = consent.title({ application: application.name, shop: shop.name });
  return renderPage(
    settings,
    title,
    html`${applicationLogo(application)}
      <h1>${title}</h1>
      <form method="post">
        ${hiddenField('csrf', content.csrf)}
        <div class="facts">
          ${content.documentHost !== undefined && html`<p>${consent.identifiedBy} <strong>${content.documentHost}</strong></p>`}
          ${
            application.firstParty
              ? html`<p class="official">${consent.verified({ shop: shop.name })}</p>`
              : html`<p>${consent.notVerified({ shop: shop.name })}</p>`
          }
          <p>${destinationText(settings, content.returnTo)}</p>
          ${content.selfRegistered && redirectsToLocalProgram(content.returnTo) && html`<p class="warning">${consent.anyProgram}</p>`}
          <p>${consent.signedInAs} <strong>${person.name}</strong><br />${person.email}</p>
          <p class="elsewhere">${consent.notYou} <button class="inline" form="switch">${consent.switch}</button></p>
        </div>
        ${content.beyondRole.length > 0 && beyondRole(settings, content)} ${!hasNothingToGrant(content) && permissions(settings, content)}
        <div class="choice">
          <button class="second" name="decision" value="cancel">${consent.cancel}</button>
          ${!hasNothingToGrant(content) && html`<button name="decision" value="allow">${consent.allow}</button>`}
        </div>
      </form>
      <form id="switch" method="post">${hiddenField('csrf', content.csrf)}${hiddenField('decision', 'switch')}</form>`,
    content.orderLimits?.faults,
  );
}

/** Renders the scopes that the user can grant. */
const permissions = (settings: PageSettings, { application, apiScopes, identityScopes, days, orderLimits }: ConsentPageViewModel): Html =>
  html`<fieldset>
      <legend>${settings.messages.consent.may({ application: application.name })}</legend>
      ${apiScopes.length > 1 && html`<p class="hint">${settings.messages.consent.untick}</p>`}
      <ul class="permissions">
        ${identityScopes.map(
          (scope) =>
            html`<li>
              <div class="given"><span class="tick" aria-hidden="true">✓</span>${settings.messages.permission[scope]}</div>
            </li>`,
        )}
        ${apiScopes.map((scope) => permission(settings, scope))}
      </ul>
    </fieldset>
    ${orderLimits && orderLimitsFields(settings, { ...orderLimits, applicationName: application.name })}
    <p class="quiet">${settings.messages.consent.duration({ days })}</p>`;

/** Renders the scopes that the user cannot grant, with a button to continue with another account. */
const beyondRole = (
  { messages: { consent, permission: texts } }: PageSettings,
  { application, beyondRole: refused }: ConsentPageViewModel,
): Html =>
  html`<div class="warning" role="alert">
    <p>${consent.cannot({ application: application.name })}</p>
    <ul>
      ${refused.map((scope) => html`<li>${texts[scope]} (<code>${scope}</code>): ${getRolesAllowedForScope(scope).includes('staff') ? consent.onlyForStaff : consent.onlyForAdministrators}</li>`)}
    </ul>
    <p><button class="inline" form="switch">${consent.switch}</button></p>
  </div>`;

/**
 * Renders the stored logo or the first letter of the application name. An image on the developer's server would let the developer see every
 * visit to the page.
 */
const applicationLogo = ({ name, logo }: ConsentPageViewModel['application']): Html =>
  logo === undefined
    ? html`<span class="logo" aria-hidden="true">${name.at(0)}</span>`
    : html`<img class="logo" src="${logo}" alt="" width="48" height="48" />`;

const permission = ({ messages }: PageSettings, scope: keyof typeof scopeDefinitions): Html =>
  html`<li>
  <label${scopeDefinitions[scope].admin && html` class="careful"`}>
    <input type="checkbox" name="scope" value="${scope}" checked />
    <span>${messages.permission[scope]}${scopeDefinitions[scope].admin && html`<small>${messages.consent.careful}</small>`}</span>
  </label>
</li>`;

function destinationText({ messages }: PageSettings, returnTo: string | undefined): string {
  if (returnTo === undefined) return messages.consent.fromADevice;
  return redirectsToLocalProgram(returnTo) ? messages.consent.fromThisComputer : messages.consent.from({ host: new URL(returnTo).host });
}

/** Returns whether the redirect leads to a program on this machine, through a loopback address or a custom URL scheme. */
function redirectsToLocalProgram(returnTo: string | undefined): boolean {
  if (returnTo === undefined) return false;
  const { protocol, hostname } = new URL(returnTo);
  return loopbackHostNames.has(hostname) || !/^https?:$/.test(protocol);
}
