import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { createInvalidRequestProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';

/** Product categories that limits permit; undefined for all products. */
export type PermittedCategories = readonly string[] | undefined;

/** Returns the categories that all limits permit. */
export function intersectCategories(limits: readonly PermittedCategories[]): string[] | undefined {
  const [first, ...others] = limits.flatMap((categories) => (categories ? [categories] : []));
  return first?.filter((category) => others.every((categories) => categories.includes(category)));
}

/**
 * Returns the first requested category that a limit does not permit, or undefined. If no categories were requested, the limit applies
 * instead.
 */
export const findUnpermittedCategory = (permitted: PermittedCategories, requested: PermittedCategories): string | undefined =>
  permitted && requested?.find((category) => !permitted.includes(category));

/** Returns the given categories that have no products for sale. */
export async function findCategoriesWithoutProductsForSale(em: EntityManager, categories: readonly string[]): Promise<string[]> {
  const { unknown } = await em
    .getKysely()
    .selectNoFrom((eb) => eb.fn<string[]>('mandate_find_unknown_categories_v1', [eb.val(categories)]).as('unknown'))
    .executeTakeFirstOrThrow();
  return unknown;
}

/**
 * @param except categories that are accepted even if they have no products for sale
 * @throws {Problem} `invalid_request` if the limits in a request body contain a category without products for sale
 */
export async function assertCategoriesHaveProductsForSale(
  em: EntityManager,
  categories: readonly string[],
  pointer: string,
  except: readonly string[] = [],
): Promise<void> {
  const added = categories.filter((category) => !except.includes(category));
  const unknown = added.length === 0 ? [] : await findCategoriesWithoutProductsForSale(em, added);
  const [first, ...more] = unknown.map((category) => ({
    in: 'body' as const,
    pointer: `${pointer}/${categories.indexOf(category)}`,
    code: 'unknown_reference',
    detail: translatable`No product in the category ${{ category }} is for sale.`,
  }));
  if (first) throw createInvalidRequestProblem(first, ...more);
}
