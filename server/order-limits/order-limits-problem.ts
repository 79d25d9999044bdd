import {
  formatDecimalAmount,
  maxApprovalWaitSeconds,
  type BudgetPeriod,
  type OrderAction,
  type OrderApprovalMode,
} from '@mandate/contract';
import { createProblem, type Problem } from '../http/problem-details/problem.ts';

/** The limit that an order or payment exceeds, together with all limits of the grant. */
export type ExceededLimit = {
  readonly limit: 'valid_until' | 'actions' | 'currency' | 'per_order' | 'per_period' | 'approval' | 'revoked';
  readonly currency: string | null;
  readonly per_order: number | null;
  readonly per_period: number | null;
  readonly period: BudgetPeriod | null;
  readonly spent: number | null;
  readonly valid_until: string | null;
  readonly period_ends_at: string | null;
  /** Orders that need the customer's approval; absent for payments, which cannot be approved. */
  readonly approval_mode?: OrderApprovalMode | null;
  /** The approval that the application requested for the quote, if any. */
  readonly approval?: { readonly id: number; readonly status: 'pending' | 'declined' | 'expired' } | null;
};

const changeHint = 'The customer can change this on the page /account/apps.';

const joinSentences = (...sentences: string[]): string => sentences.filter((sentence) => sentence !== '').join(' ');

/** @param pointer location of the amount or the quote in the request body */
export function createLimitProblem(exceeded: ExceededLimit, requested: number, requestedCurrency: string, pointer: string): Problem {
  const { limit, currency, per_order: perOrder } = exceeded;
  if (limit === 'revoked') return createProblem('revoked_token', { detail: 'Get a new access token and send the request again.' });
  if (limit === 'valid_until') return createExpiredAuthorizationProblem(exceeded.valid_until);
  if (limit === 'actions') return createActionNotAllowedProblem('place');
  if (limit === 'per_period') return createBudgetProblem(exceeded, requested, pointer);
  if (limit === 'approval') {
    const detail = joinSentences(
      'The customer approves every order of this application.',
      describeAlternatives(exceeded, pointer),
      changeHint,
    );
    return createLimitExceededProblem(detail, pointer, { requested, ...approvalFields(exceeded) });
  }
  if (limit === 'currency') {
    const facts = `The customer allows orders in ${currency} only, and this order is in ${requestedCurrency}.`;
    const detail = joinSentences(facts, describeAlternatives(exceeded, pointer), changeHint);
    return createLimitExceededProblem(detail, pointer, { requested, ...approvalFields(exceeded) });
  }
  const maximum = perOrder ?? 0;
  const facts = `The customer allows ${format(maximum, currency)} per order, and this order costs ${format(requested, currency)}.`;
  const detail = joinSentences(facts, describeAlternatives(exceeded, pointer, 'Order less'), changeHint);
  return createLimitExceededProblem(detail, pointer, { limit: maximum, requested, available: maximum, ...approvalFields(exceeded) });
}

function createBudgetProblem(exceeded: ExceededLimit, requested: number, pointer: string): Problem {
  const { currency, period } = exceeded;
  const limit = exceeded.per_period ?? 0;
  const spent = Math.max(0, exceeded.spent ?? 0);
  const available = Math.max(0, limit - spent);
  const facts = `The customer allows ${format(limit, currency)} per ${period}. ${format(spent, currency)} of it is spent, ${format(available, currency)} remains, and this order costs ${format(requested, currency)}.`;
  const alternatives = `Order less, or wait until ${formatTimestamp(exceeded.period_ends_at)}`;
  const detail = joinSentences(facts, describeAlternatives(exceeded, pointer, alternatives), changeHint);
  return createLimitExceededProblem(detail, pointer, { limit, spent, requested, available, ...approvalFields(exceeded) });
}

/** Returns whether the application can request an approval of the order. */
const isApprovable = ({ approval_mode: mode }: ExceededLimit): boolean => mode != null && mode !== 'never';

const approvalFields = (exceeded: ExceededLimit): Pick<LimitAmounts, 'approvable' | 'approval_id'> => ({
  ...(exceeded.approval_mode != null && { approvable: isApprovable(exceeded) }),
  ...(exceeded.approval != null && { approval_id: exceeded.approval.id }),
});

/**
 * Describes what the application can do: another order, if it could help, and how to request an approval.
 * @param otherOrder sentence without its full stop
 */
function describeAlternatives(exceeded: ExceededLimit, pointer: string, otherOrder?: string): string {
  const { approval } = exceeded;
  const otherOrderSentence = otherOrder === undefined ? '' : `${otherOrder}.`;
  if (!isApprovable(exceeded)) return otherOrderSentence;
  if (approval?.status === 'pending') {
    const path = `/api/v1/approvals/${approval.id}?wait=${maxApprovalWaitSeconds}`;
    return `Approval ${approval.id} of this order is pending: wait for the decision with GET ${path}, then place the order again.`;
  }
  if (approval?.status === 'declined')
    return joinSentences(otherOrderSentence, `The customer declined this order (approval ${approval.id}).`);
  const quote = pointer === '#/quote_id' ? 'this quote' : 'a quote';
  const start = otherOrder === undefined ? 'Request' : `${otherOrder}, or request`;
  return `${start} the customer's approval of ${quote} with POST /api/v1/approvals.`;
}

const actionTexts = { place: 'place or change', pay: 'pay for', cancel: 'cancel' } as const satisfies Record<OrderAction, string>;

export const createActionNotAllowedProblem = (action: OrderAction): Problem =>
  createProblem('forbidden', { detail: `The customer did not allow this application to ${actionTexts[action]} orders.` });

export const createExpiredAuthorizationProblem = (validUntil: Date | string | null): Problem =>
  createProblem('forbidden', {
    detail: `The customer allowed this application to place, pay and cancel orders until ${formatTimestamp(validUntil)}. ${changeHint}`,
  });

type LimitAmounts = {
  readonly limit?: number;
  readonly spent?: number;
  readonly requested: number;
  readonly available?: number;
  readonly approvable?: boolean;
  readonly approval_id?: number;
};

const createLimitExceededProblem = (detail: string, pointer: string, amounts: LimitAmounts): Problem =>
  createProblem('limit_exceeded', { detail, errors: [{ in: 'body', pointer, code: 'limit_exceeded', detail, ...amounts }] });

const format = (amount: number | null, currency: string | null): string =>
  `${formatDecimalAmount(amount ?? 0, currency ?? '')} ${currency ?? ''}`;

const formatTimestamp = (at: Date | string | null): string => (at === null ? 'an earlier time' : new Date(at).toISOString());
