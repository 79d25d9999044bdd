import { createProblem } from '../problem-details/problem.ts';
import { translatable, TranslatableText } from '../problem-details/translatable-text.ts';
import type { Principal } from './principal-and-token-types.ts';

/**
 * Rejects an operation that depends on all orders, if the application can access only some of them.
 * @param what a verb phrase that completes the sentence "..., so it cannot ..."
 * @throws {Problem} `forbidden` if the customer allows the application to access only the orders that it placed
 */
export function assertPrincipalCanAccessAllOrders({ orderAuthorization }: Principal, what: string): void {
  if (!orderAuthorization?.ownOrdersOnly) return;
  throw createProblem('forbidden', {
    detail: translatable`This application can access only the orders that it placed, so it cannot ${{ action: new TranslatableText(what) }}.`,
  });
}
