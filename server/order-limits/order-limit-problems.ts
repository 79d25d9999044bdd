import { maxApprovalWaitSeconds, type BudgetPeriod, type OrderAction } from '@mandate/contract';
import { createProblem, type Problem } from '../http/problem-details/problem.ts';
import { translatable, type TranslatableText, type Amount, type ProblemDetail } from '../http/problem-details/translatable-text.ts';

type ProductOutsideCategories = { readonly product_id: number; readonly category: string };

/** The limit that an order or payment exceeds. */
export type ExceededLimit = {
  readonly limit: 'valid_until' | 'actions' | 'categories' | 'currency' | 'per_order' | 'per_period' | 'approval' | 'revoked';
  /**
   * The party that set the limit. `customer` and `api_key` mean that the customer set the limit for the application or the API key.
   * `application` and `shop` mean that an administrator set the limit for this application or for all third-party applications,
   * respectively.
   */
  readonly set_by?: 'customer' | 'api_key' | 'application' | 'shop';
  readonly currency?: string | null;
  readonly per_order?: number | null;
  readonly per_period?: number | null;
  readonly period?: BudgetPeriod | null;
  readonly spent?: number | null;
  readonly valid_until?: string | null;
  readonly period_ends_at?: string | null;
  /** Categories that all limits permit; present only if `limit` is `categories`. */
  readonly categories?: readonly string[];
  /** Products whose categories are not permitted; present only if `limit` is `categories`. */
  readonly products?: readonly ProductOutsideCategories[];
  /**
   * Whether the customer can approve the order, that is, whether the customer permits approvals and the order exceeds no limit set by an
   * administrator. Absent for payments; null for API keys, which cannot request approvals.
   */
  readonly approvable?: boolean | null;
  /** The approval that the application requested for the quote, if any. */
  readonly approval?: { readonly id: number; readonly status: 'pending' | 'declined' | 'expired' } | null;
};

const changeHint = 'The customer can change this on the /account/apps page.';

/** Returns the beginning of a sentence about a limit, and a sentence that states who can change the limit. */
function describeLimitAuthor({ set_by: author }: ExceededLimit): { readonly subject: TranslatableText; readonly hint: string } {
  if (author === 'api_key') return { subject: translatable`This API key allows`, hint: 'The limits of an API key cannot be changed.' };
  return author === 'application' || author === 'shop'
    ? { subject: translatable`The shop allows this application`, hint: 'Only an administrator of the shop can change this.' }
    : { subject: translatable`The customer allows`, hint: changeHint };
}

/** Creates the problem for a request whose access was revoked while the request was being processed. */
export const createRevokedAuthorizationProblem = (): Problem =>
  createProblem('revoked_token', { detail: 'Get a new access token and send the request again.' });

/**
 * @param pointer location of the amount or the quote in the request body
 * @param findPointersOfProduct returns the locations of a product in the request body (default: `pointer`)
 */
export function createLimitExceededProblem(
  exceeded: ExceededLimit,
  requested: number,
  requestedCurrency: string,
  pointer: string,
  findPointersOfProduct: (productId: number) => readonly string[] = () => [pointer],
): Problem {
  const { limit, currency = null, per_order: perOrder } = exceeded;
  const { subject, hint } = describeLimitAuthor(exceeded);
  if (limit === 'revoked') return createRevokedAuthorizationProblem();
  if (limit === 'valid_until') return createExpiredAuthorizationProblem(exceeded.valid_until);
  if (limit === 'actions') return createActionNotAllowedProblem('place');
  if (limit === 'categories') return createCategoryProblem(exceeded, requested, pointer, findPointersOfProduct);
  if (limit === 'per_period') return createBudgetProblem(exceeded, requested, pointer);
  if (limit === 'approval') {
    const facts = 'The customer must approve every order that this application places.';
    const detail = [facts, ...describeAlternatives(exceeded, pointer), changeHint];
    return createProblemWithLimitAmounts(detail, pointer, { requested, ...approvalFields(exceeded) });
  }
  if (limit === 'currency') {
    const facts = translatable`${{ subject }} only orders in ${{ currency: currency ?? '' }}, but this order is in ${{ requestedCurrency }}.`;
    const detail = [facts, ...describeAlternatives(exceeded, pointer), hint];
    return createProblemWithLimitAmounts(detail, pointer, { requested, ...approvalFields(exceeded) });
  }
  const maximum = perOrder ?? 0;
  const facts = translatable`${{ subject }} ${{ maximum: money(maximum, currency) }} per order, and this order costs ${{ cost: money(requested, currency) }}.`;
  const detail = [facts, ...describeAlternatives(exceeded, pointer, translatable`Lower the total`), hint];
  return createProblemWithLimitAmounts(detail, pointer, { limit: maximum, requested, available: maximum, ...approvalFields(exceeded) });
}

function createBudgetProblem(exceeded: ExceededLimit, requested: number, pointer: string): Problem {
  const { currency = null, period } = exceeded;
  const { subject, hint } = describeLimitAuthor(exceeded);
  const limit = exceeded.per_period ?? 0;
  const spent = Math.max(0, exceeded.spent ?? 0);
  const available = Math.max(0, limit - spent);
  const facts = [
    translatable`${{ subject }} ${{ limit: money(limit, currency) }} per ${{ period: period ?? '' }}.`,
    translatable`${{ spent: money(spent, currency) }} has already been spent, ${{ available: money(available, currency) }} remains, and this order costs ${{ cost: money(requested, currency) }}.`,
  ];
  const alternatives = translatable`Lower the total, or wait until ${{ at: describeTime(exceeded.period_ends_at) }}`;
  const detail = [...facts, ...describeAlternatives(exceeded, pointer, alternatives), hint];
  return createProblemWithLimitAmounts(detail, pointer, { limit, spent, requested, available, ...approvalFields(exceeded) });
}

function createCategoryProblem(
  exceeded: ExceededLimit,
  requested: number,
  pointer: string,
  findPointersOfProduct: (productId: number) => readonly string[],
): Problem {
  const { categories: permitted = [], products = [] } = exceeded;
  const { hint } = describeLimitAuthor(exceeded);
  const described = products.map(({ product_id: id, category }) => translatable`product ${{ id }} is in the category ${{ category }}`);
  const outside = described.length > maxDescribedProducts ? [...described.slice(0, maxDescribedProducts), translatable`so on`] : described;
  const facts = translatable`${{ permitted: describePermittedCategories(permitted) }}, and ${{ products: { allOf: outside } }}.`;
  const alternatives = permitted.length > 0 ? translatable`Order only products in these categories` : undefined;
  const detail = [facts, ...describeAlternatives(exceeded, pointer, alternatives), hint];
  const entries = products.flatMap(({ product_id: productId, category }) =>
    findPointersOfProduct(productId).map((location) => ({
      in: 'body' as const,
      pointer: location,
      code: 'limit_exceeded',
      detail: translatable`Product ${{ id: productId }} is in the category ${{ category }}, which is not permitted.`,
      product_id: productId,
      category,
      permitted_categories: [...permitted],
      requested,
      ...approvalFields(exceeded),
    })),
  );
  return createProblem('limit_exceeded', { detail, errors: entries.slice(0, maxProblemEntries) });
}

const maxDescribedProducts = 5;
const maxProblemEntries = 50;

const describePermittedCategories = (categories: readonly string[]): TranslatableText =>
  categories.length === 0
    ? translatable`The customer’s limits and the shop’s limits have no product category in common`
    : translatable`Only products in the ${{ count: categories.length }} categories ${{ categories: { allOf: categories } }} can be ordered`;

const approvalFields = (exceeded: ExceededLimit): Pick<LimitAmounts, 'approvable' | 'approval_id'> => ({
  ...(exceeded.approvable != null && { approvable: exceeded.approvable }),
  ...(exceeded.approval != null && { approval_id: exceeded.approval.id }),
});

/**
 * Describes what the application can do instead, that is, place a different order or request an approval.
 * @param otherOrder sentence, without its final period, that suggests a different order; undefined to suggest no other order
 */
function describeAlternatives(exceeded: ExceededLimit, pointer: string, otherOrder?: TranslatableText): ProblemDetail[] {
  const { approval } = exceeded;
  const otherOrderSentences = otherOrder === undefined ? [] : [translatable`${{ otherOrder }}.`];
  if (exceeded.approvable !== true) return otherOrderSentences;
  if (approval?.status === 'pending') {
    const path = `/api/v1/approvals/${approval.id}?wait=${maxApprovalWaitSeconds}`;
    return [
      translatable`Approval of this order is pending (approval ${{ id: approval.id }}). Use GET ${{ path }} to wait for the decision, then place the order again.`,
    ];
  }
  if (approval?.status === 'declined')
    return [...otherOrderSentences, translatable`The customer declined this order (approval ${{ id: approval.id }}).`];
  const quote = pointer === '#/quote_id' ? translatable`this quote` : translatable`a quote`;
  return otherOrder === undefined
    ? [translatable`Request approval of ${{ quote }} with POST /api/v1/approvals.`]
    : [translatable`${{ otherOrder }}, or request approval of ${{ quote }} with POST /api/v1/approvals.`];
}

export const createActionNotAllowedProblem = (action: OrderAction): Problem =>
  createProblem('forbidden', { detail: translatable`The customer did not allow this application to ${{ action }} orders.` });

export const createExpiredAuthorizationProblem = (validUntil: Date | string | null | undefined): Problem =>
  createProblem('forbidden', {
    detail: [
      translatable`The customer allowed this application to place, pay for and cancel orders until ${{ at: describeTime(validUntil) }}.`,
      changeHint,
    ],
  });

type LimitAmounts = {
  readonly limit?: number;
  readonly spent?: number;
  readonly requested: number;
  readonly available?: number;
  readonly approvable?: boolean;
  readonly approval_id?: number;
};

const createProblemWithLimitAmounts = (detail: ProblemDetail, pointer: string, amounts: LimitAmounts): Problem =>
  createProblem('limit_exceeded', { detail, errors: [{ in: 'body', pointer, code: 'limit_exceeded', detail, ...amounts }] });

const money = (amount: number, currency: string | null): Amount => ({ amount, currency: currency ?? '' });

const describeTime = (at: Date | string | null | undefined): Date | TranslatableText =>
  at == null ? translatable`an earlier time` : new Date(at);
