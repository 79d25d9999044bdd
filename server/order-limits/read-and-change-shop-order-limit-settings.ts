import { type InferEntity, LockMode } from '@mikro-orm/core';
import type { OrderLimitSettings, OrderLimitSettingsUpdate } from '@mandate/contract';
import { recordAuditEvent, type RequestSource } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { insertIfAbsent } from '../database/queries/insert-if-absent.ts';
import { createInvalidRequestProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { findLimitAboveCeiling } from './find-limit-above-ceiling-and-tighten-limits.ts';
import { findUnpermittedCategory } from './product-categories-of-limits.ts';
import { lockAdministratorSetLimitsForChange } from './lock-order-limits-for-change.ts';
import { OrderLimitSettingsEntity } from './order-limit-settings.entity.ts';

const singleRowId = 1;

/** Reads the shop's limits for third-party applications. */
export async function readShopOrderLimitSettings(em: EntityManager): Promise<OrderLimitSettings> {
  const entity = await em.findOne(OrderLimitSettingsEntity, { id: singleRowId }, { disableIdentityMap: true });
  return entity
    ? settingsFromEntity(entity)
    : { maximum_limits: null, default_limits: null, maximum_products: null, default_products: null, version: 1 };
}

type Actor = { readonly source: RequestSource; readonly actorId: number | undefined; readonly clientId: string };

/**
 * Changes the shop's limits and records the change in the audit log.
 * @param check called with the current settings after their row has been locked; throws if the caller expects a different version
 * @throws {Problem} `invalid_request` if the default exceeds the maximum
 */
export function changeShopOrderLimitSettingsAndAudit(
  em: EntityManager,
  { source, actorId, clientId }: Actor,
  change: OrderLimitSettingsUpdate,
  check: (current: OrderLimitSettings) => void,
): Promise<OrderLimitSettings> {
  const { maximum_limits: maximumLimits, default_limits: defaultLimits, maximum_products: maximumProducts } = change;
  return em.transactional(async (inner) => {
    if (maximumLimits !== undefined || maximumProducts !== undefined) await lockAdministratorSetLimitsForChange(inner);
    await insertIfAbsent(inner, OrderLimitSettingsEntity, { id: singleRowId });
    const options = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
    const entity = await inner.findOneOrFail(OrderLimitSettingsEntity, { id: singleRowId }, options);
    check(settingsFromEntity(entity));
    const previousVersion = entity.version;
    if (maximumLimits !== undefined) entity.maximumLimits = maximumLimits;
    if (defaultLimits !== undefined) entity.defaultLimits = defaultLimits;
    if (maximumProducts !== undefined) entity.maximumCategories = maximumProducts?.categories ?? null;
    if (change.default_products !== undefined) entity.defaultCategories = change.default_products?.categories ?? null;
    assertDefaultWithinMaximum(settingsFromEntity(entity));
    await inner.flush();
    const settings = settingsFromEntity(entity);
    const details = Object.fromEntries(Object.entries(change).map(([field, limits]) => [field, JSON.stringify(limits)]));
    const event = { action: 'order_limit_settings.changed', actorId, clientId, details } as const;
    if (settings.version !== previousVersion) await recordAuditEvent(inner, source, event, new Date());
    return settings;
  });
}

function assertDefaultWithinMaximum(settings: OrderLimitSettings): void {
  const { maximum_limits: maximum, default_limits: limits, maximum_products: products, default_products: defaultProducts } = settings;
  const category = findUnpermittedCategory(products?.categories, defaultProducts?.categories);
  if (category !== undefined) {
    const detail = translatable`The shop’s limits do not permit the category ${{ category }}.`;
    throw createInvalidRequestProblem({ in: 'body', pointer: '#/default_products/categories', code: 'out_of_range', detail });
  }
  const excess = maximum && limits ? findLimitAboveCeiling(maximum, limits) : undefined;
  if (!excess) return;
  const pointer = `#/default_limits/${excess.field}`;
  throw createInvalidRequestProblem({
    in: 'body',
    pointer,
    code: 'out_of_range',
    detail: translatable`The shop’s maximum limits do not permit this value: ${{ reason: excess.reason }}.`,
  });
}

const settingsFromEntity = ({
  maximumLimits,
  defaultLimits,
  maximumCategories,
  defaultCategories,
  version,
}: InferEntity<typeof OrderLimitSettingsEntity>): OrderLimitSettings => ({
  maximum_limits: maximumLimits ?? null,
  default_limits: defaultLimits ?? null,
  maximum_products: maximumCategories ? { categories: [...maximumCategories] } : null,
  default_products: defaultCategories ? { categories: [...defaultCategories] } : null,
  version,
});
