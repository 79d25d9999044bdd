import { currencyExponent } from '@mandate/contract';
import { z } from 'zod';
import { deriveApprovalStatus, type ApprovalWithQuote } from '../../../../approvals/approval-from-entity.ts';
import { recordApprovalDecision } from '../../../../approvals/record-decision-or-cancel-approval.ts';
import { buildCustomerApprovalsFilter, lockApproval } from '../../../../approvals/filter-find-and-lock-approvals.ts';
import {
  findUserAmountRequiringSecondFactor,
  isSecondFactorRequiredToApprove,
  saveOrDeleteSecondFactorAmount,
} from '../../../../approvals/amount-requiring-second-factor.ts';
import { getClientAddressAndUserAgent, recordAuditEvent } from '../../../../audit/record-audit-event.ts';
import { twoFactorAcrValue } from '../../../protocol/acr-and-amr.ts';
import { findWhenAuthenticatorAppWasAdded } from '../../../second-factors/authenticator-app-and-recovery-codes.ts';
import { listPasskeys } from '../../../second-factors/passkeys.ts';
import { getBrowserSessionOfRequest } from '../../../sessions/load-start-and-end-browser-session.ts';
import { sendPage } from '../../routing/page-context.ts';
import { approvalPage, approvalsPage, type ApprovalObstacle, type ShownApproval } from '../../views/account/approval-pages.ts';
import { formatAmountWithoutCurrency, parsePositiveAmount } from '../../views/order-limits-form-and-amount-format.ts';
import type { FieldError } from '../../views/page-layout-and-form-fields.ts';
import { isSignInRecentAndSufficient, lockAccountAndRequireActiveSession, type AccountRequest } from './signed-in-page-guards.ts';
import { readOrLongPollContent, type LongPolledContentSource } from './read-or-long-poll-content.ts';
import { findNextApprovalExpiry, listApprovalIdsAndStatuses, listApprovalsWithStatus } from './approvals-with-status.ts';

const shownMax = 50;

const idSchema = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);

/**
 * Returns the functions that read the content of a live region: the signed-in customer's newest approvals, or only the approval with this
 * ID.
 */
const approvalsOfCustomer = ({ context: { em }, account }: AccountRequest, id?: number): LongPolledContentSource<ShownApproval[]> => ({
  read: () => listApprovalsWithStatus(em, [buildCustomerApprovalsFilter(account.id), ...(id === undefined ? [] : [{ id }])], shownMax),
  identify: listApprovalIdsAndStatuses,
  changesAt: findNextApprovalExpiry,
});

/** Handles `GET /account/approvals`. */
export const showApprovals = (request: AccountRequest): Promise<void> => renderApprovals(request, {});

type Submitted = {
  readonly amount?: string;
  readonly currency?: string;
  readonly faults?: readonly FieldError[];
  readonly isSaved?: boolean;
};

async function renderApprovals(request: AccountRequest, { faults = [], isSaved = false, ...typed }: Submitted): Promise<void> {
  const { context, req, res, account } = request;
  const { em, settings } = context;
  const { shown, livePath } = await readOrLongPollContent(request, '/account/approvals', approvalsOfCustomer(request));
  const saved = await findUserAmountRequiringSecondFactor(em, account.id);
  const currencies = await listCurrencies(request);
  const form = {
    currencies,
    currency: typed.currency ?? saved?.currency ?? currencies[0] ?? 'EUR',
    amount: typed.amount ?? (saved ? formatAmountWithoutCurrency(settings.messages, saved.above, saved.currency) : ''),
    faults,
    isSaved,
    needsSignIn: !isSignedInWithSecondFactor(request),
    hasSecondFactor: await hasSecondFactor(request),
  };
  const html = approvalsPage(settings, context.forms.issue(req, res), shown, livePath, form);
  sendPage(context, res, html, { status: faults.length > 0 ? 422 : 200, isLive: true });
}

/** Returns the shop's currencies and the currency of the current amount. */
async function listCurrencies({ context: { em, listOrderCurrencies }, account }: AccountRequest): Promise<string[]> {
  const saved = await findUserAmountRequiringSecondFactor(em, account.id);
  return [...new Set([...(saved ? [saved.currency] : []), ...(await listOrderCurrencies(em))])];
}

const settingsForm = z.object({ amount: z.string().trim().max(20).catch(''), currency: z.string().max(3).catch('') });

/** Handles `POST /account/approvals`: changes the amount above which approvals require a second factor. */
export async function submitAmountRequiringSecondFactor(request: AccountRequest): Promise<void> {
  const { context, req, res, account, now } = request;
  // If no second factor were required, an intruder who knows only the password could remove the protection.
  if (!isSignedInWithSecondFactor(request)) return res.redirect(303, '/account/approvals');
  const { amount, currency } = settingsForm.parse(req.body ?? {});
  const { messages } = context.settings;
  const above = amount === '' ? undefined : /^0+(?:[.,]0+)?$/.test(amount) ? 0 : parsePositiveAmount(amount, currency);
  if (amount !== '' && (above === undefined || !(await listCurrencies(request)).includes(currency))) {
    const text = messages.approvals.amountInvalid({
      example: formatAmountWithoutCurrency(messages, 10 ** currencyExponent(currency) * 100, currency),
    });
    return renderApprovals(request, { amount, currency, faults: [{ field: 'amount', text }] });
  }
  await context.em.transactional(async (em) => {
    await lockAccountAndRequireActiveSession(em, request);
    await saveOrDeleteSecondFactorAmount(em, account.id, above === undefined ? undefined : { above, currency }, now);
    const details = above === undefined ? { second_factor: 'never' } : { second_factor_above: above, currency };
    const event = { action: 'approval.settings_changed', actorId: account.id, userId: account.id, details } as const;
    await recordAuditEvent(em, getClientAddressAndUserAgent(req), event, now);
  });
  return renderApprovals(request, { isSaved: true });
}

/** Handles `GET /account/approvals/:approval`. */
export const showApproval = (request: AccountRequest): Promise<void> => renderApproval(request, []);

async function renderApproval(request: AccountRequest, faults: readonly FieldError[]): Promise<void> {
  const { context, req, res } = request;
  const id = idSchema.safeParse(req.params['approval']).data ?? 0;
  const { shown: found, livePath } = await readOrLongPollContent(request, `/account/approvals/${id}`, approvalsOfCustomer(request, id));
  const [shown] = found;
  if (!shown) return res.redirect(303, '/account/approvals');
  const html = approvalPage(context.settings, {
    csrf: context.forms.issue(req, res),
    shown,
    livePath,
    obstacle: shown.status === 'pending' ? await findObstacle(request, shown) : undefined,
    faults,
  });
  sendPage(context, res, html, { status: faults.length > 0 ? 409 : 200, isLive: true });
}

const decisionForm = z.object({ decision: z.enum(['approve', 'decline']) });

/** Handles `POST /account/approvals/:approval`: approves or declines an order. */
export async function submitApprovalDecision(request: AccountRequest): Promise<void> {
  const { context, req, res, account, now } = request;
  const id = idSchema.safeParse(req.params['approval']).data ?? 0;
  const path = `/account/approvals/${id}`;
  const form = decisionForm.safeParse(req.body ?? {});
  if (!form.success) return res.redirect(303, path);
  const { decision } = form.data;
  const outcome = await context.em.transactional(async (em) => {
    await lockAccountAndRequireActiveSession(em, request);
    const found = await lockApproval(em, buildCustomerApprovalsFilter(account.id), id);
    if (!found || deriveApprovalStatus(found, now) !== 'pending') return 'not pending';
    if (decision === 'approve' && (await findObstacle(request, found))) return 'sign-in required';
    const actor = { source: getClientAddressAndUserAgent(req), hasSecondFactor: isSignedInWithSecondFactor(request) };
    await recordApprovalDecision(em, decision === 'approve' ? 'approved' : 'declined', found, actor, now);
    return 'decided';
  });
  if (outcome === 'not pending') return renderApproval(request, [{ field: 'main', text: context.settings.messages.approvals.notPending }]);
  return res.redirect(303, path);
}

const isSignedInWithSecondFactor = ({ req }: AccountRequest): boolean => getBrowserSessionOfRequest(req).acr === twoFactorAcrValue;

async function hasSecondFactor({ context: { em }, account }: AccountRequest): Promise<boolean> {
  return (await findWhenAuthenticatorAppWasAdded(em, account.id)) !== undefined || (await listPasskeys(em, account.id)).length > 0;
}

/** Returns the reason why the user cannot approve the order yet, or undefined if there is none. */
async function findObstacle(request: AccountRequest, found: ApprovalWithQuote): Promise<ApprovalObstacle | undefined> {
  const { context, req, account, now } = request;
  if ((await isSecondFactorRequiredToApprove(context.em, found)) && !isSignedInWithSecondFactor(request))
    return (await hasSecondFactor(request)) ? 'second factor' : 'no second factor';
  return (await isSignInRecentAndSufficient(context, getBrowserSessionOfRequest(req), account.id, now)) ? undefined : 'recent sign-in';
}
