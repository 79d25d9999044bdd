import type { Product } from '@mandate/contract';
import { may } from '../http/middleware/authorize.ts';
import { problem } from '../http/problem-details/problem.ts';
import { principalIfAny } from '../http/request/request-context.ts';
import type { RoutedRequest } from '../http/request/matched-route.ts';

type ProductStatus = Product['status'];

/** Returns the statuses to list: the requested ones, if the caller may see them, or only `active` by default. */
export function listedStatuses(req: RoutedRequest, requested: readonly ProductStatus[] = ['active']): readonly ProductStatus[] {
  if (requested.some((status) => status !== 'active') && !may(principalIfAny(req), 'products.write')) {
    throw problem('forbidden', { detail: 'Listing products that are not active requires the `products.write` scope and a staff account.' });
  }
  return requested;
}
