import { formatDecimalAmount, type BudgetPeriod, type OrderAction } from '@mandate/contract';
import { createProblem, type Problem } from '../http/problem-details/problem.ts';

/** The limit that an order or payment exceeds. */
export type ExceededLimit = {
  readonly limit: 'valid_until' | 'actions' | 'currency' | 'per_order' | 'per_period' | 'revoked';
  /**
   * Where the limit was set: by the customer for the application or API key, or by an administrator for this application or for all
   * applications that are not the shop's own.
   */
  readonly set_by?: 'customer' | 'api_key' | 'application' | 'shop';
  readonly currency?: string | null;
  readonly per_order?: number | null;
  readonly per_period?: number | null;
  readonly period?: BudgetPeriod | null;
  readonly spent?: number | null;
  readonly valid_until?: string | null;
  readonly period_ends_at?: string | null;
};

const changeHint = 'The customer can change this on the page /account/apps.';

/** Returns the beginning of a sentence about a limit, and a sentence that states who can change the limit. */
function describeLimitAuthor({ set_by: author }: ExceededLimit): { readonly subject: string; readonly hint: string } {
  if (author === 'api_key') return { subject: 'This API key allows', hint: 'Limits of API keys cannot be changed.' };
  return author === 'application' || author === 'shop'
    ? { subject: 'The shop allows this application', hint: 'Only an administrator of the shop can change this.' }
    : { subject: 'The customer allows', hint: changeHint };
}

/** @param pointer location of the amount in the request body */
export function createLimitProblem(exceeded: ExceededLimit, requested: number, requestedCurrency: string, pointer: string): Problem {
  const { limit, currency = null, per_order: perOrder } = exceeded;
  const { subject, hint } = describeLimitAuthor(exceeded);
  if (limit === 'revoked') return createProblem('revoked_token', { detail: 'Get a new access token and send the request again.' });
  if (limit === 'valid_until') return createExpiredAuthorizationProblem(exceeded.valid_until);
  if (limit === 'actions') return createActionNotAllowedProblem('place');
  if (limit === 'per_period') return createBudgetProblem(exceeded, requested, pointer);
  if (limit === 'currency') {
    const detail = `${subject} orders in ${currency} only, and this order is in ${requestedCurrency}. ${hint}`;
    return createLimitExceededProblem(detail, pointer, { requested });
  }
  const maximum = perOrder ?? 0;
  const detail = `${subject} ${format(maximum, currency)} per order, and this order costs ${format(requested, currency)}. Order less. ${hint}`;
  return createLimitExceededProblem(detail, pointer, { limit: maximum, requested, available: maximum });
}

function createBudgetProblem(exceeded: ExceededLimit, requested: number, pointer: string): Problem {
  const { currency = null, period } = exceeded;
  const { subject, hint } = describeLimitAuthor(exceeded);
  const limit = exceeded.per_period ?? 0;
  const spent = Math.max(0, exceeded.spent ?? 0);
  const available = Math.max(0, limit - spent);
  const facts = `${subject} ${format(limit, currency)} per ${period}. ${format(spent, currency)} of it is spent, ${format(available, currency)} remains, and this order costs ${format(requested, currency)}.`;
  const detail = `${facts} Order less, or wait until ${formatTimestamp(exceeded.period_ends_at)}. ${hint}`;
  return createLimitExceededProblem(detail, pointer, { limit, spent, requested, available });
}

const actionTexts = { place: 'place or change', pay: 'pay for', cancel: 'cancel' } as const satisfies Record<OrderAction, string>;

export const createActionNotAllowedProblem = (action: OrderAction): Problem =>
  createProblem('forbidden', { detail: `The customer did not allow this application to ${actionTexts[action]} orders.` });

export const createExpiredAuthorizationProblem = (validUntil: Date | string | null | undefined): Problem =>
  createProblem('forbidden', {
    detail: `The customer allowed this application to place, pay and cancel orders until ${formatTimestamp(validUntil)}. ${changeHint}`,
  });

type LimitAmounts = { readonly limit?: number; readonly spent?: number; readonly requested: number; readonly available?: number };

const createLimitExceededProblem = (detail: string, pointer: string, amounts: LimitAmounts): Problem =>
  createProblem('limit_exceeded', { detail, errors: [{ in: 'body', pointer, code: 'limit_exceeded', detail, ...amounts }] });

const format = (amount: number | null, currency: string | null): string =>
  `${formatDecimalAmount(amount ?? 0, currency ?? '')} ${currency ?? ''}`;

const formatTimestamp = (at: Date | string | null | undefined): string => (at == null ? 'an earlier time' : new Date(at).toISOString());
