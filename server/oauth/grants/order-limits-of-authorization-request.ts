import {
  orderActions,
  orderAuthorizationDetailsInputSchema,
  type EffectiveOrderLimits,
  type OrderAccessLevel,
  type OrderSpendingLimits,
  type Scope,
} from '@mandate/contract';
import { z } from 'zod';
import type { Application } from '../../applications/application.entity.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { fillInLimitsFromCeiling } from '../../order-limits/find-limit-above-ceiling.ts';
import { intersectCategories } from '../../order-limits/product-categories-of-limits.ts';
import { findOrderLimitCeilings, type OrderLimitCeilings } from './find-order-limit-ceilings.ts';

/** Returns the orders that an application can access if its request contains details without `orders`. */
export const defaultOrderAccess = ({ firstParty }: Pick<Application, 'firstParty'>): OrderAccessLevel => (firstParty ? 'all' : 'own');

const detailsSchema = z.array(z.unknown()).optional();

/** Returns the elements of the parameter `authorization_details`, or undefined if the request does not contain the parameter. */
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
    orders = defaultOrderAccess(application),
    approval = 'above_limit',
    ...limits
  } = orderAuthorizationDetailsInputSchema.parse(detail);
  return { ...limits, orders, approval };
}

const orderScopes = new Set<string>(['orders.write', 'orders.manage', 'payments.write', 'payments.manage'] satisfies Scope[]);

/** Returns whether one of the scopes permits orders or payments. */
export const permitsOrdersOrPayments = (scopes: readonly string[]): boolean => scopes.some((scope) => orderScopes.has(scope));

/** The limits that the consent page offers for an authorization request. */
export type OfferedOrderLimits = {
  /** Whether the user can set limits: the application requests limits, or its scopes permit orders or payments. */
  readonly isOffered: boolean;
  /** Whether the application requests limits. */
  readonly isRequested: boolean;
  /** What the user can allow at most: the requested limits, tightened by those that administrators set; undefined if there are none. */
  readonly maximum: EffectiveOrderLimits | undefined;
  /** The limits with which the form is filled in. */
  readonly proposed: EffectiveOrderLimits | undefined;
};

/** Returns the limits that the consent page offers for an authorization request. */
export async function findOfferedOrderLimits(
  em: EntityManager,
  params: Readonly<Record<string, unknown>>,
  application: Pick<Application, 'firstParty' | 'clientId'>,
  scopes: readonly string[],
): Promise<OfferedOrderLimits> {
  const requested = parseRequestedOrderLimits(params, application);
  if (!requested && !permitsOrdersOrPayments(scopes)) {
    return { isOffered: false, isRequested: false, maximum: undefined, proposed: undefined };
  }
  const ceilings = await findOrderLimitCeilings(em, application.clientId);
  const maximum = tightenToCeilings(requested, ceilings);
  const defaults = defaultOrderLimits(ceilings);
  const proposed = requested || !defaults ? maximum : tightenToCeilings({ ...(maximum ?? unlimited), ...defaults }, ceilings);
  return { isOffered: true, isRequested: requested !== undefined, maximum, proposed };
}

const unlimited: EffectiveOrderLimits = { actions: [...orderActions], orders: 'all', approval: 'above_limit' };

/** Returns the requested limits, tightened to the ceilings; undefined if there are neither. */
export const tightenToCeilings = (
  requested: EffectiveOrderLimits | undefined,
  { ceilings, categories: permitted }: OrderLimitCeilings,
): EffectiveOrderLimits | undefined => {
  const limits = tighten(requested?.limits, ceilings);
  const categories = intersectCategories([requested?.products?.categories, permitted]);
  if (!limits && !categories) return requested;
  return { ...(requested ?? unlimited), ...(limits && { limits }), ...(categories && { products: { categories } }) };
};

/** Returns the shop's default, or undefined if there is none. */
const defaultOrderLimits = ({
  defaultLimits: limits,
  defaultCategories: categories,
}: OrderLimitCeilings): Pick<EffectiveOrderLimits, 'limits' | 'products'> | undefined =>
  limits || categories ? { ...(limits && { limits }), ...(categories && { products: { categories: [...categories] } }) } : undefined;

const tighten = (limits: OrderSpendingLimits | undefined, ceilings: readonly OrderSpendingLimits[]): OrderSpendingLimits | undefined => {
  let tightened = limits;
  for (const ceiling of ceilings) tightened = fillInLimitsFromCeiling(ceiling, tightened);
  return tightened;
};

/**
 * Returns the limits of a grant for which no consent page is shown: the shop's default, or the ceilings.
 * @returns `isDefault` is true if the limits contain the shop's default, and not only ceilings
 */
export async function findLimitsWithoutConsent(
  em: EntityManager,
  clientId: string,
): Promise<{ readonly limits: EffectiveOrderLimits | undefined; readonly isDefault: boolean }> {
  const ceilings = await findOrderLimitCeilings(em, clientId);
  const defaults = defaultOrderLimits(ceilings);
  return { limits: tightenToCeilings(defaults && { ...unlimited, ...defaults }, ceilings), isDefault: defaults !== undefined };
}
