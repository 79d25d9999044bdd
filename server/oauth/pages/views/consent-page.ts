import { getRolesAllowedForScope, type Scope } from '@mandate/contract';
import type { ApplicationLinks } from '../../../applications/select-links-for-consent-page.ts';
import { loopbackHostNames } from '../../../applications/find-redirect-uri-registration-error.ts';
import { html, type Html } from '../../../http/response/html-template.ts';
import { describeScope } from './describe-scope.ts';
import { orderLimitsFields, type OrderLimitsFieldsViewModel } from './order-limits-fields-and-page.ts';
import { hiddenField, renderPage, type PageSettings } from './page-layout-and-form-fields.ts';
import { getPermissionGroup, isPowerfulPermission, permissionGroups, powerfulGroups, type PermissionGroup } from './permission-groups.ts';
import type { OpenIdConnectScope } from '../../protocol/oauth-scopes.ts';

export type ConsentPageViewModel = {
  readonly csrf: string;
  readonly application: { readonly name: string; readonly firstParty: boolean; readonly logo: string | undefined };
  readonly links: ApplicationLinks;
  /** Host of the client ID metadata document, if such a document identifies the application. */
  readonly documentHost: string | undefined;
  readonly selfRegistered: boolean;
  /** Redirect URI; undefined in the device flow. */
  readonly returnTo: string | undefined;
  readonly person: { readonly name: string; readonly email: string };
  /** Requested API scopes, each of which the user can select. */
  readonly apiScopes: readonly Scope[];
  /** API scopes whose checkboxes are checked when the page opens. */
  readonly selectedScopes: ReadonlySet<string>;
  /** Requested API scopes that the user's role does not permit. */
  readonly beyondRole: readonly Scope[];
  /** OpenID Connect scopes, which the user cannot deselect individually. */
  readonly identityScopes: readonly OpenIdConnectScope[];
  readonly days: number;
  /** Limits for orders; undefined if the application can neither order nor pay. */
  readonly orderLimits: Omit<OrderLimitsFieldsViewModel, 'applicationName'> | undefined;
  /** Whether the user submitted the page without selecting any permission. */
  readonly isSelectionMissing: boolean;
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
    html`<div class="application">
        ${applicationLogo(application)}
        <h1>${title}</h1>
      </div>
      <form method="post">
        ${hiddenField('csrf', content.csrf)} ${originFacts(settings, content)}
        <div class="facts account">
          <p>${consent.signedInAs} <strong>${person.name}</strong><br />${person.email}</p>
          <p><button class="inline" form="switch">${consent.switch}</button></p>
        </div>
        ${!hasNothingToGrant(content) && permissions(settings, content)} ${content.beyondRole.length > 0 && beyondRole(settings, content)}
        ${!hasNothingToGrant(content) && html`<p class="quiet">${consent.duration({ days: content.days })} ${consent.revoke({ page: messages.accountMenu.apps })}</p>`}
        ${applicationLinks(settings, content)}
        <div class="decision">
          ${linkToPowerfulPermissions(settings, content)}
          <div class="choice">
            <button class="second" name="decision" value="cancel">${consent.cancel}</button>
            ${!hasNothingToGrant(content) && html`<button name="decision" value="allow">${consent.allow}</button>`}
          </div>
        </div>
      </form>
      <form id="switch" method="post">${hiddenField('csrf', content.csrf)}${hiddenField('decision', 'switch')}</form>`,
    [
      ...(content.isSelectionMissing ? [{ field: 'permissions', text: consent.nothingSelected }] : []),
      ...(content.orderLimits?.faults ?? []),
    ],
  );
}

const linkInNewTab = (url: string, text: string): Html => html`<a href="${url}" target="_blank" rel="noopener noreferrer">${text}</a>`;

/** The links open in a new tab, because the form would lose the user's selection if the page were left. */
function applicationLinks({ messages: { consent } }: PageSettings, { application, links }: ConsentPageViewModel): Html | false {
  const { privacyPolicy, termsOfService } = links;
  return (
    (privacyPolicy !== undefined || termsOfService !== undefined) &&
    html`<p class="quiet">
      ${privacyPolicy !== undefined && linkInNewTab(privacyPolicy, consent.privacyPolicy({ application: application.name }))}
      ${privacyPolicy !== undefined && termsOfService !== undefined && '·'}
      ${termsOfService !== undefined && linkInNewTab(termsOfService, consent.termsOfService({ application: application.name }))}
    </p>`
  );
}

function linkToPowerfulPermissions(
  { messages: { consent } }: PageSettings,
  { apiScopes, selectedScopes }: ConsentPageViewModel,
): Html | false {
  const powerful = apiScopes.filter(isPowerfulPermission);
  const text = powerful.every((scope) => selectedScopes.has(scope)) ? consent.includesPowerful : consent.selectPowerful;
  return powerful.length > 0 && html`<p><a href="#powerful">${text}</a></p>`;
}

/**
 * Renders the text that states who operates the application and where the browser is redirected, so that users can recognize an imitation.
 */
function originFacts(settings: PageSettings, { application, documentHost, selfRegistered, returnTo }: ConsentPageViewModel): Html {
  const { messages, shop } = settings;
  const { consent } = messages;
  return html`${documentHost !== undefined && html`<p>${consent.identifiedBy} <strong>${documentHost}</strong></p>`}
    ${application.firstParty && html`<p class="official">${consent.verified({ shop: shop.name })}</p>`}
    <p class="quiet">${!application.firstParty && consent.notVerified({ shop: shop.name })} ${destinationText(settings, returnTo)}</p>
    ${selfRegistered && redirectsToLocalProgram(returnTo) && html`<p class="warning">${consent.anyProgram}</p>`}`;
}

type Permission = { readonly scope: Scope | OpenIdConnectScope; readonly isOptional: boolean; readonly isSelected: boolean };

/** Returns the scopes that the user can grant, by group. Groups without scopes are omitted. */
function listGroups({
  apiScopes,
  selectedScopes,
  identityScopes,
}: ConsentPageViewModel): { group: PermissionGroup; scopes: Permission[] }[] {
  const all: Permission[] = [
    ...identityScopes.map((scope) => ({ scope, isOptional: false, isSelected: true })),
    ...apiScopes.map((scope) => ({ scope, isOptional: true, isSelected: selectedScopes.has(scope) })),
  ];
  return permissionGroups.flatMap((group) => {
    const scopes = all.filter(({ scope }) => getPermissionGroup(scope) === group);
    return scopes.length === 0 ? [] : [{ group, scopes }];
  });
}

/** Renders the scopes that the user can grant. */
function permissions(settings: PageSettings, content: ConsentPageViewModel): Html {
  const { consent } = settings.messages;
  const { application, apiScopes, orderLimits } = content;
  const groups = listGroups(content);
  const firstPowerful = groups.find(({ group }) => powerfulGroups.has(group));
  return html`<fieldset id="permissions">
      <legend>${consent.may({ application: application.name })}</legend>
      ${apiScopes.length > 1 && !apiScopes.every(isPowerfulPermission) && html`<p class="hint">${consent.untick}</p>`}
      ${groups.map(
        ({ group, scopes }) =>
          html`<div
            ${powerfulGroups.has(group) && html`class="careful"`}
            ${group === firstPowerful?.group && html`id="powerful"`}
            role="group"
            aria-labelledby="group-${group}"
          >
            <h2 id="group-${group}">${consent.groups[group]}</h2>
            ${powerfulGroups.has(group) && html`<p class="hint">${consent.tickPowerful}</p>`}
            <ul class="permissions">
              ${scopes.map((one) => permission(settings, one, describeScope(settings, one.scope, content.identityScopes)))}
            </ul>
          </div>`,
      )}
    </fieldset>
    ${orderLimits && orderLimitsFields(settings, { ...orderLimits, applicationName: application.name })}`;
}

/** Renders the scopes that the user cannot grant, with a button to continue with a different account. */
function beyondRole(settings: PageSettings, { application, beyondRole: refused, identityScopes }: ConsentPageViewModel): Html {
  const { consent } = settings.messages;
  return html`<div class="warning" role="alert">
    <p>${consent.cannot({ application: application.name })}</p>
    <ul>
      ${refused.map((scope) => html`<li>${describeScope(settings, scope, identityScopes)} <small>${getRolesAllowedForScope(scope).includes('staff') ? consent.onlyForStaff : consent.onlyForAdministrators}</small></li>`)}
    </ul>
    <p><button class="inline" form="switch">${consent.switch}</button></p>
  </div>`;
}

/**
 * Renders the stored logo or the first letter of the application name. If the page loaded the image from the developer's server, the
 * developer could see every visit to the page.
 */
const applicationLogo = ({ name, logo }: ConsentPageViewModel['application']): Html =>
  logo === undefined
    ? html`<span class="logo" aria-hidden="true">${name.at(0)}</span>`
    : html`<img class="logo" src="${logo}" alt="" width="48" height="48" />`;

const permission = ({ messages }: PageSettings, { scope, isOptional, isSelected }: Permission, text: string): Html =>
  isOptional
    ? html`<li>
        <label><input type="checkbox" name="scope" value="${scope}" ${isSelected && html`checked`} /><span>${text}</span></label>
      </li>`
    : html`<li>
        <div class="given">
          <span class="tick" aria-hidden="true">✓</span><span>${text}<small>${messages.consent.included}</small></span>
        </div>
      </li>`;

function destinationText({ messages }: PageSettings, returnTo: string | undefined): string {
  if (returnTo === undefined) return messages.consent.fromADevice;
  return redirectsToLocalProgram(returnTo) ? messages.consent.fromThisComputer : messages.consent.from({ host: new URL(returnTo).host });
}

/** Returns whether the redirect leads to a program on the user's device, through a loopback address or a custom URL scheme. */
function redirectsToLocalProgram(returnTo: string | undefined): boolean {
  if (returnTo === undefined) return false;
  const { protocol, hostname } = new URL(returnTo);
  return loopbackHostNames.has(hostname) || !/^https?:$/.test(protocol);
}
