import type { OrderAction } from '@mandate/contract';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable, TranslatableText } from '../http/problem-details/translatable-text.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { createActionNotAllowedProblem, createExpiredAuthorizationProblem } from './order-limit-problems.ts';

/** @throws {Problem} `forbidden` if the customer did not allow the action, or if the authorization has expired */
export function assertOrderActionAllowed({ orderAuthorization }: Principal, action: OrderAction, now: Date): void {
  if (!orderAuthorization) return;
  const { actions, validUntil } = orderAuthorization;
  if (!actions.includes(action)) throw createActionNotAllowedProblem(action);
  if (validUntil !== null && validUntil <= now) throw createExpiredAuthorizationProblem(validUntil);
}

/**
 * Rejects an operation that could bypass the limits that the customer set for the application.
 * @param what a verb phrase that completes the sentence "An application with order limits cannot ..."
 * @throws {Problem} `forbidden`
 */
export function assertNoOrderLimits({ orderAuthorization }: Principal, what: string): void {
  if (orderAuthorization)
    throw createProblem('forbidden', {
      detail: translatable`An application with order limits cannot ${{ action: new TranslatableText(what) }}.`,
    });
}
