import { raw } from '@mikro-orm/core';
import { getRolesAllowedForScope, orderAuthorizationDetailsType, type EffectiveOrderLimits } from '@mandate/contract';
import { errors, type KoaContextWithOIDC, type Provider } from 'oidc-provider';
import { Application, isRegisteredWithoutApproval, registrationMethodsWithoutApproval } from '../../applications/application.entity.ts';
import { consoleClientId } from '../../applications/ensure-console-client.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { lockRows } from '../../database/queries/lock-rows.sql.ts';
import type { User } from '../../users/user.entity.ts';
import {
  type ApprovedScopesAndRole,
  lockApplicationAndSelectApprovedScopesAndRole,
} from './lock-application-and-select-approved-scopes-and-role.sql.ts';
import { findFieldPermittingMoreThanAllowed } from '../../order-limits/find-field-permitting-more-than-allowed.ts';
import { OrderLimits } from '../../order-limits/order-limits-and-budgeted-order.entity.ts';
import { authorizationDetailsFromOrderLimits } from '../../order-limits/order-limits-conversion.ts';
import { saveOrderLimits } from '../../order-limits/save-find-and-delete-order-limits.ts';
import { findOrderLimitsOfGrantWithoutConsentPage, unlimitedOrderPermissions } from './order-limits-of-authorization-request.ts';
import { ConnectedAppEntity } from './connected-app.entity.ts';
import { storeConnectedApp } from './store-list-and-revoke-connected-apps.ts';
import { UserConsent } from './consent.entity.ts';
import { listClaimsParameterUserClaims } from '../protocol/claims-parameter.ts';
import { isApiScope, isKnownScope } from '../protocol/oauth-scopes.ts';
import { linkedAccountFromInteractionResult } from '../sessions/linked-account-of-sign-in.ts';

type Grant = InstanceType<Provider['Grant']>;
export type UserRole = User['role'];

/** Returns whether a user with this role can grant the scope. Users can grant only the API scopes that their role permits. */
export const canRoleGrantScope = (role: UserRole, scope: string): boolean =>
  !isApiScope(scope) || getRolesAllowedForScope(scope).includes(role);

/**
 * Returns the user's role, and the scopes that need no further consent: scopes that the user has consented to, and scopes that an
 * administrator has preapproved for all users. Returns undefined for an application that was registered without approval, because its
 * consent page is always shown.
 */
async function findApprovedScopesAndRole(em: EntityManager, userId: number, clientId: string): Promise<ApprovedScopesAndRole | undefined> {
  const [row] = await lockApplicationAndSelectApprovedScopesAndRole(em, [userId, clientId]);
  return row && !isRegisteredWithoutApproval(row) ? row : undefined;
}

/** Returns the scopes in the user's stored consent for this application. */
export async function findConsentedScopes(em: EntityManager, userId: number, applicationId: number): Promise<ReadonlySet<string>> {
  const consent = await em.fork({ keepTransactionContext: true }).findOne(UserConsent, { user: userId, application: applicationId });
  return new Set(consent?.scopes);
}

/** Adds the granted scopes to the user's stored consent. */
export async function addScopesToStoredConsent(
  em: EntityManager,
  userId: number,
  clientId: string,
  granted: readonly string[],
  now: Date,
): Promise<void> {
  const [applicationId] = await lockRows(em, em.createQueryBuilder(Application).select('id').where({ clientId }), 'key share');
  if (applicationId === undefined) return; // the application has been deleted
  await em
    .createQueryBuilder(UserConsent)
    .insert({ user: userId, application: applicationId, scopes: [...granted], grantedAt: now })
    .onConflict(['user', 'application'])
    .merge({ scopes: raw('array(select distinct unnest(consents.scopes || excluded.scopes) order by 1)'), grantedAt: now })
    .execute();
  const selfRegistered = { clientId, registration: { $in: [...registrationMethodsWithoutApproval] } };
  await em.fork({ keepTransactionContext: true }).nativeUpdate(Application, selfRegistered, { lastConsentAt: now });
}

/**
 * Returns the known scopes in an authorization request, and the scopes that correspond to the requested claims. Users consent to a claim by
 * consenting to its scope.
 */
export const listRequestedScopesIncludingClaimScopes = (params: Readonly<Record<string, unknown>>): string[] => [
  ...new Set([
    ...(typeof params['scope'] === 'string' ? params['scope'].split(' ').filter(isKnownScope) : []),
    ...listClaimsParameterUserClaims(params).map(({ scope }) => scope),
  ]),
];

/**
 * Records in the grant which requested scopes and claims the user allowed or rejected. API scopes are recorded twice, because oidc-provider
 * treats them both as OpenID Connect scopes and as resource scopes. Rejected scopes are recorded, so that the user is not asked about these
 * scopes again during this request.
 */
export function recordConsentDecisionInGrant(
  grant: Grant,
  resources: readonly string[],
  params: Readonly<Record<string, unknown>>,
  allowed: ReadonlySet<string>,
): void {
  for (const { claim, scope } of listClaimsParameterUserClaims(params)) {
    if (allowed.has(scope)) grant.addOIDCClaims([claim]);
    else grant.rejectOIDCClaims([claim]);
  }
  for (const scope of listRequestedScopesIncludingClaimScopes(params)) {
    if (allowed.has(scope)) grant.addOIDCScope(scope);
    else grant.rejectOIDCScope(scope);
    if (!isApiScope(scope)) continue;
    for (const resource of resources) {
      if (allowed.has(scope)) grant.addResourceScope(resource, scope);
      else grant.rejectResourceScope(resource, scope);
    }
  }
}

type RequestingClient = Pick<
  NonNullable<KoaContextWithOIDC['oidc']['client']>,
  'applicationType' | 'clientAuthMethod' | 'clientId' | 'redirectUris'
>;

/**
 * Returns whether the consent page is shown at every sign-in. Any program on the device can impersonate a public native client (RFC 8252,
 * section 8.6). A confidential client authenticates when redeeming the code, even if one of its redirect URIs is on the loopback interface.
 * If the server itself runs on the loopback interface, the console is also a native client. The console's registered redirect URI points to
 * this server, but other ports can belong to other programs.
 */
export function requiresConsentAtEverySignIn(client: RequestingClient, redirectUri: unknown): boolean {
  if (client.applicationType !== 'native' || client.clientAuthMethod !== 'none') return false;
  return client.clientId !== consoleClientId || !client.redirectUris?.some((uri) => uri === redirectUri);
}

/**
 * Creates the hook that returns the grant for an authorization request: the grant that the user has just consented to, or a new grant with
 * the scopes of an earlier consent. The hook never reuses the browser session's grant, because signing out one of two devices that share a
 * grant would also sign out the other device.
 */
export const createFindOrCreateGrantHook = (em: EntityManager, resources: readonly string[]) => async (ctx: KoaContextWithOIDC) => {
  const { client, account, result, provider } = ctx.oidc;
  if (!client || !account) return undefined;
  const consentedGrantId = result?.consent?.grantId;
  if (consentedGrantId !== undefined) return provider.Grant.find(consentedGrantId);
  if (requiresConsentAtEverySignIn(client, ctx.oidc.params?.['redirect_uri'])) return undefined;
  const by = { userId: Number(account.accountId), clientId: client.clientId };
  return em.transactional(() => createGrantWithoutPrompt(em, ctx, by, resources));
};

async function createGrantWithoutPrompt(
  em: EntityManager,
  ctx: KoaContextWithOIDC,
  { userId, clientId }: { readonly userId: number; readonly clientId: string },
  resources: readonly string[],
): Promise<Grant | undefined> {
  const { params, provider, session, result } = ctx.oidc;
  if (params?.['authorization_details'] !== undefined) return undefined; // the user decides about the limits on the consent page
  const requested = listRequestedScopesIncludingClaimScopes(params ?? {});
  const approval = await findApprovedScopesAndRole(em, userId, clientId);
  if (!approval) return undefined;
  const [consented, preapproved] = [new Set(approval.consented), new Set(approval.preapproved)];
  const { role } = approval;
  const allowed = new Set(requested.filter((scope) => (consented.has(scope) || preapproved.has(scope)) && canRoleGrantScope(role, scope)));
  // The console requests the scopes of every role. Users of the console are not asked about scopes that their role cannot grant.
  const needsNoConsent = (scope: string): boolean =>
    allowed.has(scope) || (clientId === consoleClientId && !canRoleGrantScope(role, scope));
  if (!requested.every(needsNoConsent)) return undefined; // the consent page then asks for all requested scopes
  const preapprovedScopes = requested.filter((scope) => allowed.has(scope) && !consented.has(scope));
  const isPreapproved = preapprovedScopes.length > 0;
  const application = { clientId, firstParty: approval.firstParty };
  const limits = await findOrderLimitsOfGrantWithoutConsentPage(em, application, requested, { withDefault: isPreapproved });
  // Without this check, a preapproved application could replace its limited access with wider access.
  if (isPreapproved && (await hasNarrowerGrant(em, userId, clientId, limits.effective))) return undefined;
  const grant = new provider.Grant({ accountId: String(userId), clientId });
  recordConsentDecisionInGrant(grant, resources, params ?? {}, allowed);
  if (limits.effective) grant.addRar({ type: orderAuthorizationDetailsType, ...limits.effective });
  const grantId = await grant.save();
  if (limits.stored) await saveOrderLimits(em, grantId, limits.stored);
  const signIn = linkedAccountFromInteractionResult(result);
  const app = { grantId, userId, clientId, preapprovedScopes, sessionUid: session?.uid, signIn };
  await storeConnectedApp(em, app, ctx.get('user-agent'), new Date());
  return grant;
}

/** Returns whether the user has given this application narrower limits in a different grant, for example in a different browser. */
async function hasNarrowerGrant(
  em: EntityManager,
  userId: number,
  clientId: string,
  limits: EffectiveOrderLimits | undefined,
): Promise<boolean> {
  const grantIds = em.createQueryBuilder(ConnectedAppEntity).select('grantId').where({ user: userId, clientId });
  const others = await em.find(OrderLimits, { grantId: { $in: grantIds.toRaw() }, setByUser: true }, { disableIdentityMap: true });
  return others.some(
    (other) =>
      findFieldPermittingMoreThanAllowed(authorizationDetailsFromOrderLimits(other), limits ?? unlimitedOrderPermissions) !== undefined,
  );
}

/** Returns the active application with this client ID, and throws an error if there is none. */
export async function requireActiveApplication(em: EntityManager, clientId: string): Promise<Application> {
  const application = await em.fork({ keepTransactionContext: true }).findOne(Application, { clientId, status: 'active' });
  if (!application) throw new errors.SessionNotFound('the application does not exist or is disabled');
  return application;
}
