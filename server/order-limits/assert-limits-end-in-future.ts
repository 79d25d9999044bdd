import type { OrderLimitsInput } from '@mandate/contract';
import { createInvalidRequestProblem } from '../http/problem-details/problem.ts';

/** @throws {Problem} `invalid_request` if the expiry time of the limits in a request body is in the past */
export function assertLimitsEndInFuture(
  { valid_until: validUntil }: Pick<OrderLimitsInput, 'valid_until'>,
  now: Date,
  pointer = '#/valid_until',
): void {
  if (validUntil === undefined || new Date(validUntil) > now) return;
  throw createInvalidRequestProblem({ in: 'body', pointer, code: 'out_of_range', detail: 'Must be in the future.' });
}
