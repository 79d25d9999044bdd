import {
  orderActionsInAuthorizationDetails,
  orderAuthorizationDetailsInputSchema,
  type EffectiveOrderLimits,
  type OrderAccessLevel,
  type OrderSpendingLimits,
  type Scope,
} from '@mandate/contract';
import { z } from 'zod';
import type { Application } from '../../applications/application.entity.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { tightenLimitsToCeiling } from '../../order-limits/find-limit-above-ceiling-and-tighten-limits.ts';
import { intersectCategories } from '../../order-limits/product-categories-of-limits.ts';
import { findOrderLimitCeilingsAndDefaults, type OrderLimitCeilingsAndDefaults } from './find-order-limit-ceilings-and-defaults.ts';

/** Returns which orders an application can access if the request does not specify `orders` in the authorization details. */
export const getDefaultOrderAccess = ({ firstParty }: Pick<Application, 'firstParty'>): OrderAccessLevel => (firstParty ? 'all' : 'own');

const detailsSchema = z.array(z.unknown()).optional();

/** Returns the elements of the `authorization_details` parameter, or undefined if the request does not contain the parameter. */
export function parseAuthorizationDetails(params: Readonly<Record<string, unknown>>): unknown[] | undefined {
  const text = params['authorization_details'];
  return detailsSchema.parse(typeof text === 'string' ? JSON.parse(text) : undefined);
}

/** Validates and returns the order limits in an application's authorization request, with the defaults for `orders` and `approval`. */
function parseRequestedOrderLimits(
  params: Readonly<Record<string, unknown>>,
  application: Pick<Application, 'firstParty'>,
): EffectiveOrderLimits | undefined {
  const [detail] = parseAuthorizationDetails(params) ?? [];
  if (detail === undefined) return undefined;
  const {
    type: _type,
    orders = getDefaultOrderAccess(application),
    approval = 'above_limit',
    ...limits
  } = orderAuthorizationDetailsInputSchema.parse(detail);
  return { ...limits, orders, approval };
}

const orderScopes = new Set<string>(['orders.write', 'orders.manage', 'payments.write', 'payments.manage'] satisfies Scope[]);

/** Returns whether one of the scopes permits orders or payments. */
const permitsOrdersOrPayments = (scopes: readonly string[]): boolean => scopes.some((scope) => orderScopes.has(scope));

const orderAccessScopes = new Set<string>([
  ...orderScopes,
  ...([
    'orders.read',
    'payments.read',
    'refunds.write',
    'shipments.write',
    'tasks.read',
    'tasks.write',
    'events.read',
    'webhooks.read',
    'webhooks.write',
  ] satisfies Scope[]),
]);

/** Permissions of an application that has no limits. */
export const unlimitedOrderPermissions: EffectiveOrderLimits = {
  actions: [...orderActionsInAuthorizationDetails],
  orders: 'all',
  approval: 'above_limit',
};

/**
 * Returns the limits of a grant that was requested without authorization details. An application that the shop does not operate can access
 * only its own orders. Returns undefined if nothing is limited, or if the scopes permit no access to orders.
 */
const defaultLimitsOfGrant = (application: Pick<Application, 'firstParty'>, scopes: readonly string[]): EffectiveOrderLimits | undefined =>
  getDefaultOrderAccess(application) === 'own' && scopes.some((scope) => orderAccessScopes.has(scope))
    ? { ...unlimitedOrderPermissions, orders: 'own' }
    : undefined;

/** The limits that the consent page offers for an authorization request. */
export type OfferedOrderLimits = {
  /** Whether the user can set limits. True if the application requests limits or if its scopes permit orders or payments. */
  readonly isOffered: boolean;
  /** Whether the application requests limits. */
  readonly isRequested: boolean;
  /**
   * The widest limits that the user can allow: the requested limits or the default access to orders, further restricted by the limits that
   * administrators set. Undefined if access is unlimited.
   */
  readonly maximum: EffectiveOrderLimits | undefined;
  /** The limits that are initially selected in the form. */
  readonly proposed: EffectiveOrderLimits | undefined;
};

/** Returns the limits that the consent page offers for an authorization request. */
export async function findOrderLimitsForConsentPage(
  em: EntityManager,
  params: Readonly<Record<string, unknown>>,
  application: Pick<Application, 'firstParty' | 'clientId'>,
  scopes: readonly string[],
): Promise<OfferedOrderLimits> {
  const requested = parseRequestedOrderLimits(params, application);
  const allowed = requested ?? defaultLimitsOfGrant(application, scopes);
  if (!requested && !permitsOrdersOrPayments(scopes)) {
    return { isOffered: false, isRequested: false, maximum: allowed, proposed: allowed };
  }
  const ceilings = await findOrderLimitCeilingsAndDefaults(em, application.clientId);
  const maximum = tightenRequestedLimitsToCeilings(allowed, ceilings);
  const defaults = defaultOrderLimits(ceilings);
  const proposed =
    requested || !defaults
      ? maximum
      : tightenRequestedLimitsToCeilings({ ...(maximum ?? unlimitedOrderPermissions), ...defaults }, ceilings);
  return { isOffered: true, isRequested: requested !== undefined, maximum, proposed };
}

/** Returns the requested limits, tightened to the ceilings; undefined if there are no requested limits and no ceilings. */
export const tightenRequestedLimitsToCeilings = (
  requested: EffectiveOrderLimits | undefined,
  { ceilings, categories: permitted }: OrderLimitCeilingsAndDefaults,
): EffectiveOrderLimits | undefined => {
  const limits = tighten(requested?.limits, ceilings);
  const categories = intersectCategories([requested?.products?.categories, permitted]);
  if (!limits && !categories) return requested;
  return { ...(requested ?? unlimitedOrderPermissions), ...(limits && { limits }), ...(categories && { products: { categories } }) };
};

/** Returns the shop's default order limits, or undefined if the shop has none. */
const defaultOrderLimits = ({
  defaultLimits: limits,
  defaultCategories: categories,
}: OrderLimitCeilingsAndDefaults): Pick<EffectiveOrderLimits, 'limits' | 'products'> | undefined =>
  limits || categories ? { ...(limits && { limits }), ...(categories && { products: { categories: [...categories] } }) } : undefined;

const tighten = (limits: OrderSpendingLimits | undefined, ceilings: readonly OrderSpendingLimits[]): OrderSpendingLimits | undefined => {
  let tightened = limits;
  for (const ceiling of ceilings) tightened = tightenLimitsToCeiling(ceiling, tightened);
  return tightened;
};

/**
 * Returns the limits of a grant that is created without showing the consent page.
 * @param withDefault whether the shop's default limits apply; true if the user has not decided about limits on the consent page
 * @returns the limits that apply to the grant (`effective`), and the limits to store for the grant (`stored`). The administrators' ceilings
 * do not have to be stored, because they always apply.
 */
export async function findOrderLimitsOfGrantWithoutConsentPage(
  em: EntityManager,
  application: Pick<Application, 'firstParty' | 'clientId'>,
  scopes: readonly string[],
  { withDefault }: { readonly withDefault: boolean },
): Promise<{ readonly effective: EffectiveOrderLimits | undefined; readonly stored: EffectiveOrderLimits | undefined }> {
  const access = defaultLimitsOfGrant(application, scopes);
  if (!permitsOrdersOrPayments(scopes)) return { effective: access, stored: access };
  const ceilings = await findOrderLimitCeilingsAndDefaults(em, application.clientId);
  const defaults = withDefault ? defaultOrderLimits(ceilings) : undefined;
  const stored = defaults ? tightenRequestedLimitsToCeilings({ ...(access ?? unlimitedOrderPermissions), ...defaults }, ceilings) : access;
  return { effective: tightenRequestedLimitsToCeilings(stored, ceilings), stored };
}
