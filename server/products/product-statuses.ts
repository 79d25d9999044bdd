import type { Product } from '@mandate/contract';
import { may } from '../http/middleware/authorize.ts';
import { problem } from '../http/problem-details/problem.ts';
import { principalIfAny } from '../http/request/request-context.ts';
import type { RoutedRequest } from '../http/request/matched-route.ts';

type ProductStatus = Product['status'];

/** Statuses of the products in a list: those requested, if the caller may see them; by default what is on sale. */
export function listedStatuses(req: RoutedRequest, requested: readonly ProductStatus[] = ['active']): readonly ProductStatus[] {
  if (requested.some((status) => status !== 'active') && !may(principalIfAny(req), 'products.write')) {
    throw problem('forbidden', { detail: 'Products that are not active need `products.write` and a member of staff.' });
  }
  return requested;
}
