import type { Product } from '@mandate/contract';
import { may } from '../http/authorize.ts';
import { problem } from '../http/problem.ts';
import { principalIfAny } from '../http/request-scope.ts';
import type { RoutedRequest } from '../http/route-of-request.ts';

type ProductStatus = Product['status'];

/** Statuses of the products in a list: those requested, if the caller may see them; by default what is on sale. */
export function listedStatuses(req: RoutedRequest, requested: readonly ProductStatus[] = ['active']): readonly ProductStatus[] {
  if (requested.some((status) => status !== 'active') && !may(principalIfAny(req), 'products.write')) {
    throw problem('forbidden', { detail: 'Products that are not active need `products.write` and a member of staff.' });
  }
  return requested;
}
