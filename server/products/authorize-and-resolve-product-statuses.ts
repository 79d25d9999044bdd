import type { Product } from '@mandate/contract';
import { canUseScope } from '../http/middleware/authorize-by-scope.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { findPrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { MatchedRequest } from '../http/request/matched-route.ts';

type ProductStatus = Product['status'];

/**
 * Returns the requested product statuses (default: only `active`). Throws an error if the caller may not see products with these statuses.
 */
export function authorizeAndResolveListedProductStatuses(
  req: MatchedRequest,
  requested: readonly ProductStatus[] = ['active'],
): readonly ProductStatus[] {
  if (requested.some((status) => status !== 'active') && !canUseScope(findPrincipal(req), 'products.write')) {
    throw createProblem('forbidden', {
      detail: 'Listing products that are not active requires the `products.write` scope and a staff account.',
    });
  }
  return requested;
}
