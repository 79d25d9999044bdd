import { LockMode } from '@mikro-orm/core';
import type { ConnectedAppLimits, EffectiveOrderLimits, OrderLimitsInput } from '@mandate/contract';
import { Application } from '../../applications/application.entity.ts';
import type { RequestSource } from '../../audit/record-audit-event.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { createInvalidRequestProblem } from '../../http/problem-details/problem.ts';
import { translatable } from '../../http/problem-details/translatable-text.ts';
import { assertCategoriesHaveProductsForSale } from '../../order-limits/product-categories-of-limits.ts';
import { findEffectiveOrderLimits, type EffectiveLimits } from '../../order-limits/find-effective-order-limits.ts';
import { findLimitAboveCeilings, findOrderLimitCeilingsAndDefaults } from './find-order-limit-ceilings-and-defaults.ts';
import {
  findUserSetOrderLimits,
  removeOrderLimitsExceptOwnOrdersRestriction,
  saveOrderLimits,
} from '../../order-limits/save-find-and-delete-order-limits.ts';
import { OauthRecord } from '../storage/oauth-record.entity.ts';
import { ConnectedAppEntity } from './connected-app.entity.ts';
import { deleteStoredConsent } from './delete-stored-consent.ts';
import { recordLimitChangeAndUpdateTokens } from './record-limit-change-and-update-tokens.ts';
import { tightenRequestedLimitsToCeilings } from './order-limits-of-authorization-request.ts';

/** Returns the limits of a user's connected application, or undefined if the user has no such application. */
export async function findLimitsOfConnectedApp(em: EntityManager, userId: number, id: number): Promise<ConnectedAppLimits | undefined> {
  const app = await em.findOne(ConnectedAppEntity, { id, user: userId }, { disableIdentityMap: true });
  if (!app) return undefined;
  return connectedAppLimitsFromEffectiveLimits((await findEffectiveOrderLimits(em, app.grantId, app.clientId)) ?? undefined);
}

/** Converts limits to their API representation; undefined means that the application has no limits. */
export const connectedAppLimitsFromEffectiveLimits = (limits: EffectiveLimits | undefined): ConnectedAppLimits => ({
  authorization_details: limits ? [limits.details] : [],
  customer_limits: limits?.setByUser ? [limits.setByUser] : [],
  budget: limits?.budget ?? null,
  budgets: [...(limits?.budgets ?? [])],
});

/** Returns the limits of connected applications by ID. Applications without limits are omitted. */
export async function listLimitsOfConnectedApps(em: EntityManager, ids: readonly number[]): Promise<ReadonlyMap<number, EffectiveLimits>> {
  const fields = ['id', 'grantId', 'clientId'] as const;
  const apps = ids.length === 0 ? [] : await em.find(ConnectedAppEntity, { id: { $in: [...ids] } }, { fields, disableIdentityMap: true });
  const limitsById = new Map<number, EffectiveLimits>();
  for (const { id, grantId, clientId } of apps) {
    const limits = await findEffectiveOrderLimits(em, grantId, clientId);
    if (limits) limitsById.set(id, limits);
  }
  return limitsById;
}

/**
 * Returns whether the user can let a connected application access all orders; false if the application requested access only to its own
 * orders.
 */
export async function isAccessToAllOrdersGrantable(em: EntityManager, userId: number, id: number): Promise<boolean> {
  const app = await em.findOne(ConnectedAppEntity, { id, user: userId }, { disableIdentityMap: true });
  const limits = app && (await findUserSetOrderLimits(em, app.grantId));
  return limits?.allOrdersGrantable ?? true;
}

/** Returns the limits that administrators set for a user's connected application, or undefined if there are none. */
export async function findCeilingOfConnectedApp(
  em: EntityManager,
  userId: number,
  id: number,
): Promise<Pick<EffectiveOrderLimits, 'limits' | 'products'> | undefined> {
  const app = await em.findOne(ConnectedAppEntity, { id, user: userId }, { disableIdentityMap: true });
  return app ? tightenRequestedLimitsToCeilings(undefined, await findOrderLimitCeilingsAndDefaults(em, app.clientId)) : undefined;
}

type LimitsChange = {
  readonly source: RequestSource;
  /** Client ID of the application through which the user changes the limits; undefined for a change on the account pages. */
  readonly by: string | undefined;
  /** The new limits; undefined if the user removes the limits. */
  readonly input: OrderLimitsInput | undefined;
  readonly timeZone: string | undefined;
};

/**
 * Changes the limits of a user's connected application. Returns false if the user has no such application. The limits apply to every order
 * that is placed after the commit. Call this in a transaction.
 */
export async function changeOrRemoveLimitsOfConnectedApp(
  em: EntityManager,
  userId: number,
  id: number,
  { source, by, input, timeZone }: LimitsChange,
  now: Date,
): Promise<boolean> {
  const app = await em.findOne(ConnectedAppEntity, { id, user: userId }, { disableIdentityMap: true });
  if (!app) return false;
  const { grantId, clientId } = app;
  // Locks the grant, as requests that issue tokens also do, so that a token that is issued concurrently contains the new limits.
  const lock = { lockMode: LockMode.PESSIMISTIC_WRITE, fields: ['id'], disableIdentityMap: true } as const;
  if (!(await em.findOne(OauthRecord, { model: 'Grant', id: grantId }, lock))) return false;
  if (input) {
    await assertWithinCeilings(em, clientId, input);
    if (by !== undefined) await assertNewCategoriesKnown(em, grantId, input);
    await saveOrderLimits(em, grantId, await fillInOrderAccessAndApproval(em, grantId, input), { timeZone });
    await deleteStoredConsent(em, userId, clientId);
  } else {
    const application = await em.findOne(Application, { clientId }, { fields: ['firstParty'], disableIdentityMap: true });
    await removeOrderLimitsExceptOwnOrdersRestriction(em, grantId, { firstParty: application?.firstParty === true });
  }
  await recordLimitChangeAndUpdateTokens(em, app, { source, actorId: userId, by, limits: input }, now);
  return true;
}

/** @throws {Problem} `invalid_request` if a limit exceeds the limit that an administrator set */
async function assertWithinCeilings(em: EntityManager, clientId: string, input: OrderLimitsInput): Promise<void> {
  const excess = findLimitAboveCeilings(await findOrderLimitCeilingsAndDefaults(em, clientId), input);
  if (!excess) return;
  const detail = translatable`For this application, ${{ reason: excess.reason }}. Only an administrator of the shop can change this.`;
  throw createInvalidRequestProblem({ in: 'body', pointer: `#/${excess.path.join('/')}`, code: 'out_of_range', detail });
}

/**
 * Categories that are already in the limits are accepted even if they no longer contain any products.
 * @throws {Problem} `invalid_request` if an added category contains no products for sale
 */
async function assertNewCategoriesKnown(em: EntityManager, grantId: string, { products }: OrderLimitsInput): Promise<void> {
  const current = await findUserSetOrderLimits(em, grantId);
  await assertCategoriesHaveProductsForSale(em, products?.categories ?? [], '#/products/categories', current?.categories ?? []);
}

/** @throws {Problem} `invalid_request` if the application did not request access to all orders */
async function fillInOrderAccessAndApproval(em: EntityManager, grantId: string, input: OrderLimitsInput): Promise<EffectiveOrderLimits> {
  const current = await findUserSetOrderLimits(em, grantId);
  const { orders = current?.ownOrdersOnly ? 'own' : 'all', approval = current?.approval ?? 'above_limit' } = input;
  if (orders === 'own' || current?.allOrdersGrantable !== false) return { ...input, orders, approval };
  throw createInvalidRequestProblem({
    in: 'body',
    pointer: '#/orders',
    code: 'out_of_range',
    detail: 'The application requested access only to the orders that it places. It must first request access to all orders.',
  });
}
