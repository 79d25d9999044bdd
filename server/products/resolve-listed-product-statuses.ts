import type { Product } from '@mandate/contract';
import { canUseScope } from '../http/middleware/authorize-by-scope.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { findPrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { MatchedRequest } from '../http/request/matched-route.ts';

type ProductStatus = Product['status'];

/** Returns the statuses of the products to list. The caller can request statuses that it may see (default: only `active`). */
export function resolveListedProductStatuses(
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
