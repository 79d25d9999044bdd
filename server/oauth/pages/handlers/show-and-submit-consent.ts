import type { Request, Response } from 'express';
import { maxLimitedCategories, orderAuthorizationDetailsType, type EffectiveOrderLimits, type Scope } from '@mandate/contract';
import { errors } from 'oidc-provider';
import { z } from 'zod';
import { isRegisteredWithoutApproval, type Application } from '../../../applications/application.entity.ts';
import { getLogoUriIfPngDataUri } from '../../../applications/application-logo-uri.ts';
import { selectLinksForConsentPage } from '../../../applications/select-links-for-consent-page.ts';
import { User } from '../../../users/user.entity.ts';
import { recordAuditEvent, getClientAddressAndUserAgent } from '../../../audit/record-audit-event.ts';
import { endBrowserSessionAndNotifyApplications } from '../../sessions/load-start-and-end-browser-session.ts';
import {
  listRequestedScopesIncludingClaimScopes,
  recordConsentDecisionInGrant,
  requireActiveApplication,
  canRoleGrantScope,
  addScopesToStoredConsent,
  findConsentedScopes,
} from '../../grants/consents-and-grants.ts';
import { storeConnectedApp } from '../../grants/store-list-and-revoke-connected-apps.ts';
import { listAccessTokenAudiences, oauthEndpointPaths } from '../../protocol/endpoint-paths-and-audiences.ts';
import { tokenAndSessionLifetimesInSeconds } from '../../protocol/token-and-session-lifetimes.ts';
import {
  getInteractionClientId,
  deleteInteraction,
  requirePendingInteraction,
  getAuthorizationRequestRedirectUri,
  sendPage,
  type Interaction,
  type PageContext,
} from '../routing/page-context.ts';
import { findOrderLimitsForConsentPage, type OfferedOrderLimits } from '../../grants/order-limits-of-authorization-request.ts';
import { deleteStoredConsent } from '../../grants/delete-stored-consent.ts';
import { findFieldPermittingMoreThanAllowed } from '../../../order-limits/find-field-permitting-more-than-allowed.ts';
import { saveOrderLimits } from '../../../order-limits/save-find-and-delete-order-limits.ts';
import { orderLimitsFormFromLimits, orderLimitsFormSchema, type OrderLimitsForm } from '../views/order-limits-form-and-amount-format.ts';
import { parseOrderLimitsForm } from './parse-order-limits-form.ts';
import type { FieldError } from '../views/page-layout-and-form-fields.ts';
import { consentPage, type ConsentPageViewModel } from '../views/consent-page.ts';
import { isPowerfulPermission } from '../views/permission-groups.ts';
import { filterApiScopes, isApiScope, openIdConnectScopes } from '../../protocol/oauth-scopes.ts';

const consentForm = z.object({
  decision: z.enum(['allow', 'cancel', 'switch']),
  /** Scopes that the user has selected. */
  scope: z.union([z.string().transform((scope) => [scope]), z.array(z.string())]).default([]),
});

/** Handles `GET /consent/:uid`: shows what the application would be allowed to do. */
export const showConsent = (context: PageContext) => (req: Request, res: Response) => renderConsent(context, req, res, undefined);

type RejectedForm = {
  readonly selected: ReadonlySet<string>;
  readonly limits: OrderLimitsForm;
  readonly limitFaults: readonly FieldError[];
  /** Whether the user selected no permissions. */
  readonly isSelectionMissing: boolean;
};

/** @param rejected the submitted form, if it was invalid */
async function renderConsent(context: PageContext, req: Request, res: Response, rejected: RejectedForm | undefined): Promise<void> {
  const interaction = await requirePendingInteraction(context, req, res, 'consent');
  const user = await requireUser(context, interaction);
  const { grantable, apiScopes, beyondRole } = splitRequestedScopes(interaction, user.role);
  if (grantable.length + beyondRole.length === 0) return deny(context, req, res);
  const application = await requireActiveApplication(context.em, getInteractionClientId(interaction));
  const html = consentPage(context.settings, {
    csrf: context.forms.issue(req, res),
    application: { name: application.name, firstParty: application.firstParty, logo: getLogoUriIfPngDataUri(application.logoUri) },
    links: selectLinksForConsentPage(application, getAuthorizationRequestRedirectUri(interaction)),
    documentHost: application.registration === 'metadata_document' ? new URL(application.clientId).host : undefined,
    selfRegistered: isRegisteredWithoutApproval(application),
    returnTo: getAuthorizationRequestRedirectUri(interaction),
    person: user,
    apiScopes,
    selectedScopes: rejected?.selected ?? (await findPreselectedScopes(context, interaction, user, application, apiScopes)),
    isSelectionMissing: rejected?.isSelectionMissing ?? false,
    beyondRole,
    identityScopes: openIdConnectScopes.filter((scope) => grantable.includes(scope)),
    days: tokenAndSessionLifetimesInSeconds.grant / (24 * 60 * 60),
    orderLimits: await orderLimitsViewModel(context, interaction, application, apiScopes, rejected),
  });
  const status = rejected ? 422 : 200;
  return sendPage(context, res, html, { status, returnTo: getAuthorizationRequestRedirectUri(interaction) });
}

/**
 * Returns the scopes whose checkboxes are checked when the page opens. Powerful permissions are checked only if the user has granted them
 * to this application before. A device code can come from another person's device, so earlier consent does not count in the device flow.
 */
async function findPreselectedScopes(
  { em }: PageContext,
  { deviceCode }: Interaction,
  user: User,
  application: Application,
  apiScopes: readonly Scope[],
): Promise<ReadonlySet<string>> {
  const consented = deviceCode === undefined ? await findConsentedScopes(em, user.id, application.id) : new Set<string>();
  return new Set(apiScopes.filter((scope) => !isPowerfulPermission(scope) || consented.has(scope)));
}

async function orderLimitsViewModel(
  { em, settings, listOrderCurrencies, listProductCategories }: PageContext,
  { params }: Interaction,
  application: Application,
  apiScopes: readonly Scope[],
  rejected: RejectedForm | undefined,
): Promise<ConsentPageViewModel['orderLimits']> {
  const { isOffered, isRequested, maximum, proposed } = await findOrderLimitsForConsentPage(em, params, application, apiScopes);
  if (!isOffered && !maximum) return undefined;
  const { limits: form = orderLimitsFormFromLimits(settings.messages, proposed), limitFaults: faults = [] } = rejected ?? {};
  const canAllowAllOrders = maximum?.orders !== 'own';
  const isProposed = proposed?.limits !== undefined || proposed?.products !== undefined;
  const categories = maximum?.products?.categories ?? [
    ...new Set([...(form.limit_category ?? []), ...(await listProductCategories(em, maxLimitedCategories))]),
  ];
  const currencies = await listOrderCurrencies(em);
  return { isOffered, maximum, isRequested, isProposed, canAllowAllOrders, categories, currencies, form, faults };
}

/** Handles `POST /consent/:uid`. */
export const submitConsent = (context: PageContext) => async (req: Request, res: Response) => {
  const form = consentForm.safeParse(req.body ?? {});
  if (!form.success) return renderConsent(context, req, res, undefined);
  switch (form.data.decision) {
    case 'cancel':
      return deny(context, req, res);
    case 'switch':
      return switchUser(context, req, res);
    case 'allow':
      return allow(context, req, res, new Set(form.data.scope), orderLimitsFormSchema.parse(req.body));
  }
};

async function allow(
  context: PageContext,
  req: Request,
  res: Response,
  selected: ReadonlySet<string>,
  form: OrderLimitsForm,
): Promise<void> {
  const { em, provider } = context;
  const pending = await requirePendingInteraction(context, req, res, 'consent');
  const { faults: limitFaults, limits, timeZone, allOrdersGrantable, isChosen } = await parseLimits(context, pending, form);
  const isSelectionMissing = await isNothingAllowed(context, pending, selected);
  if (limitFaults.length > 0 || isSelectionMissing)
    return renderConsent(context, req, res, { selected, limits: form, limitFaults, isSelectionMissing });
  const returnTo = await em.transactional(async () => {
    const interaction = await requirePendingInteraction(context, req, res, 'consent'); // locked, so that only one of several submissions takes effect
    if (interaction.result?.consent !== undefined) return interaction.returnTo;
    const user = await requireUser(context, interaction);
    const { grantable } = splitRequestedScopes(interaction, user.role);
    if (grantable.length === 0) return denyInteraction(context, req, res);
    const allowed = filterAllowedScopes(grantable, selected);
    const grant = new provider.Grant({ accountId: String(user.id), clientId: getInteractionClientId(interaction) });
    recordConsentDecisionInGrant(grant, listAccessTokenAudiences(provider.issuer), interaction.params, new Set(allowed));
    if (limits) grant.addRar({ type: orderAuthorizationDetailsType, ...limits });
    const grantId = await grant.save();
    const [clientId, now] = [getInteractionClientId(interaction), new Date()];
    await addScopesToStoredConsent(em, user.id, clientId, allowed, now);
    const app = { grantId, userId: user.id, clientId, sessionUid: interaction.session?.uid };
    await storeConnectedApp(em, app, req.headers['user-agent'], now);
    if (limits) {
      await saveOrderLimits(em, grantId, limits, { timeZone, allOrdersGrantable });
      if (isChosen) await deleteStoredConsent(em, user.id, clientId);
    }
    const details = { scopes: allowed, ...(limits && { limits: JSON.stringify(limits) }) };
    const event = { action: 'consent.granted', actorId: user.id, userId: user.id, clientId, details } as const;
    await recordAuditEvent(em, getClientAddressAndUserAgent(req), event, now);
    return provider.interactionResult(req, res, { consent: { grantId } });
  });
  res.redirect(303, returnTo);
}

/** Returns the scopes that the user allows. OpenID Connect scopes have no checkboxes. */
const filterAllowedScopes = (grantable: readonly string[], selected: ReadonlySet<string>): string[] =>
  grantable.filter((scope) => selected.has(scope) || !isApiScope(scope));

/** Returns whether the user can grant at least one scope, but selected none. */
async function isNothingAllowed(context: PageContext, interaction: Interaction, selected: ReadonlySet<string>): Promise<boolean> {
  const { grantable } = splitRequestedScopes(interaction, (await requireUser(context, interaction)).role);
  return grantable.length > 0 && filterAllowedScopes(grantable, selected).length === 0;
}

async function parseLimits(pageContext: PageContext, interaction: Interaction, form: OrderLimitsForm) {
  const { em, settings, listOrderCurrencies } = pageContext;
  const application = await requireActiveApplication(em, getInteractionClientId(interaction));
  const { apiScopes } = splitRequestedScopes(interaction, (await requireUser(pageContext, interaction)).role);
  const offered = await findOrderLimitsForConsentPage(em, interaction.params, application, apiScopes);
  const { isOffered, isRequested, maximum } = offered;
  const canAllowAllOrders = maximum?.orders !== 'own';
  const { messages } = settings;
  const context = { maximum, canAllowAllOrders, currencies: await listOrderCurrencies(em), messages, now: new Date() };
  const parsed = parseOrderLimitsForm(isOffered ? form : orderLimitsFormFromLimits(messages, maximum), context);
  // Unless the application requested access only to its own orders, the user can allow access to all orders later, on the account page.
  const allOrdersGrantable = canAllowAllOrders || !isRequested;
  return { ...parsed, allOrdersGrantable, isChosen: isChosenByUserOrApplication(offered, parsed.limits) };
}

/**
 * Returns whether the application or the user chose the limits; false if the limits equal the administrators' maximum, which always
 * applies.
 */
const isChosenByUserOrApplication = ({ isRequested, maximum }: OfferedOrderLimits, limits: EffectiveOrderLimits | undefined): boolean =>
  isRequested || maximum === undefined || limits === undefined || findFieldPermittingMoreThanAllowed(limits, maximum) !== undefined;

async function deny(context: PageContext, req: Request, res: Response): Promise<void> {
  const returnTo = await context.em.transactional(async () => {
    await requirePendingInteraction(context, req, res, 'consent');
    return denyInteraction(context, req, res);
  });
  res.redirect(303, returnTo);
}

function denyInteraction({ provider }: PageContext, req: Request, res: Response): Promise<string> {
  const result = { error: 'access_denied', error_description: 'the user did not allow it' };
  return provider.interactionResult(req, res, result, { mergeWithLastSubmission: false });
}

/** Signs the user out and restarts the authorization request. */
async function switchUser(context: PageContext, req: Request, res: Response): Promise<void> {
  const interaction = await requirePendingInteraction(context, req, res, 'consent');
  if (interaction.deviceCode !== undefined) return switchUserForDevice(context, req, res, interaction);
  await deleteInteraction(context, req, res, interaction);
  await endBrowserSessionAndNotifyApplications(context, req, res);
  const request = new URLSearchParams();
  for (const [name, value] of Object.entries(interaction.params)) {
    for (const one of Array.isArray(value) ? value : [value]) if (typeof one === 'string') request.append(name, one);
  }
  res.redirect(303, `${oauthEndpointPaths.authorization}?${request.toString()}`);
}

/**
 * Restarts the sign-in within the same interaction and without a new authorization request, because a device code can be confirmed only
 * once.
 */
async function switchUserForDevice(context: PageContext, req: Request, res: Response, interaction: Interaction): Promise<void> {
  interaction.prompt = { name: 'login', reasons: ['account_switch'], details: {} };
  delete interaction.session;
  delete interaction.lastSubmission;
  await interaction.persist();
  await endBrowserSessionAndNotifyApplications(context, req, res);
  res.redirect(303, `/sign-in/${interaction.uid}`);
}

/** Splits the requested scopes into scopes that this user can grant and API scopes that the user's role does not permit. */
function splitRequestedScopes(interaction: Interaction, role: User['role']) {
  const requested = listRequestedScopesIncludingClaimScopes(interaction.params);
  const grantable = requested.filter((scope) => canRoleGrantScope(role, scope));
  return {
    grantable,
    apiScopes: filterApiScopes(grantable),
    beyondRole: filterApiScopes(requested).filter((scope) => !grantable.includes(scope)),
  };
}

async function requireUser({ em }: PageContext, { session }: Interaction): Promise<User> {
  const user = await em.fork({ keepTransactionContext: true }).findOne(User, { id: Number(session?.accountId), status: 'active' });
  if (!user) throw new errors.SessionNotFound('the account is disabled or closed');
  return user;
}
