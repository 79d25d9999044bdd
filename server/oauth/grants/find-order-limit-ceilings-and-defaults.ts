import type { EffectiveOrderLimits, OrderSpendingLimits } from '@mandate/contract';
import { Application } from '../../applications/application.entity.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { findLimitAboveCeiling, type LimitAboveCeiling } from '../../order-limits/find-limit-above-ceiling-and-tighten-limits.ts';
import { findUnpermittedCategory, intersectCategories, type PermittedCategories } from '../../order-limits/product-categories-of-limits.ts';
import { readShopOrderLimitSettings } from '../../order-limits/read-and-change-shop-order-limit-settings.ts';
import { translatable, type TranslatableText } from '../../http/problem-details/translatable-text.ts';

export type OrderLimitCeilingsAndDefaults = {
  /** The application's ceiling, and the shop's maximum if the shop does not operate the application. All ceilings apply. */
  readonly ceilings: readonly OrderSpendingLimits[];
  /** Limits that the consent page proposes if the application requests none. */
  readonly defaultLimits: OrderSpendingLimits | undefined;
  /** Product categories that every ceiling permits. */
  readonly categories: PermittedCategories;
  /** Categories that the consent page proposes if the application requests no limits. */
  readonly defaultCategories: PermittedCategories;
};

const none: OrderLimitCeilingsAndDefaults = { ceilings: [], defaultLimits: undefined, categories: undefined, defaultCategories: undefined };

/** Returns the limits that administrators set for an application. */
export async function findOrderLimitCeilingsAndDefaults(em: EntityManager, clientId: string): Promise<OrderLimitCeilingsAndDefaults> {
  const fields = ['firstParty', 'orderLimitsCeiling', 'orderCategoriesCeiling'] as const;
  const application = await em.findOne(Application, { clientId }, { fields, disableIdentityMap: true });
  if (!application) return none;
  const ofApplication = application.orderLimitsCeiling ?? [];
  const categories = application.orderCategoriesCeiling ?? undefined;
  if (application.firstParty) return { ...none, ceilings: [ofApplication].flat(), categories };
  const settings = await readShopOrderLimitSettings(em);
  return {
    ceilings: [ofApplication, settings.maximum_limits ?? []].flat(),
    defaultLimits: settings.default_limits ?? undefined,
    categories: intersectCategories([categories, settings.maximum_products?.categories]),
    defaultCategories: settings.default_products?.categories,
  };
}

/** The field path of a requested limit that exceeds a ceiling, and the reason for the rejection. */
type ExcessiveLimit = { readonly path: readonly string[]; readonly reason: TranslatableText };

/** Returns the first limit that exceeds one of the ceilings, or undefined if all limits are within the ceilings. */
export function findLimitAboveCeilings(
  { ceilings, categories }: OrderLimitCeilingsAndDefaults,
  { limits, products }: Pick<EffectiveOrderLimits, 'limits' | 'products'>,
): ExcessiveLimit | undefined {
  const excess = findAmountAboveCeilings(ceilings, limits);
  if (excess) return { path: ['limits', excess.field], reason: excess.reason };
  const category = findUnpermittedCategory(categories, products?.categories);
  if (category === undefined) return undefined;
  const permitted = categories?.join(', ') || translatable`none`;
  return {
    path: ['products', 'categories'],
    reason: translatable`the category ${{ category }} is not permitted (permitted: ${{ permitted }})`,
  };
}

function findAmountAboveCeilings(
  ceilings: readonly OrderSpendingLimits[],
  limits: OrderSpendingLimits | undefined,
): LimitAboveCeiling | undefined {
  for (const ceiling of limits ? ceilings : []) {
    const excess = limits && findLimitAboveCeiling(ceiling, limits);
    if (excess) return excess;
  }
  return undefined;
}
