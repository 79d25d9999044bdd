import { initServer } from '@ts-rest/express';
import type { Request, Response } from 'express';
import { contract, type Approval as ApprovalBody, type ApprovalStatus } from '@mandate/contract';
import { Application } from '../applications/application.entity.ts';
import { getClientAddressAndUserAgent } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import type { EventHandlerDependencies } from '../events/event-long-poll.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import type { MatchedRequest } from '../http/request/matched-route.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import { requireRecentSignIn, requireSecondFactor } from '../http/request/recent-sign-in-and-second-factor-checks.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { createResourceIdempotently } from '../http/writes/idempotency.ts';
import { assertNoOrderLimits } from '../order-limits/assert-order-action-allowed.ts';
import { approvalFromEntity, approvalSummaryFromEntity, deriveApprovalStatus, type ApprovalWithQuote } from './approval-from-entity.ts';
import { cancelApproval, recordApprovalDecision } from './record-decision-or-cancel-approval.ts';
import {
  buildApprovalsFilterForStaff,
  buildCustomerApprovalsFilter,
  buildApprovalStatusFilter,
  buildReadableApprovalsFilter,
  createApprovalNotFoundProblem,
  findApproval,
  listApprovals,
  lockApproval,
} from './filter-find-and-lock-approvals.ts';
import { requestApproval } from './request-approval.ts';
import { isSecondFactorRequiredToApprove } from './amount-requiring-second-factor.ts';
import { longPollUntilDoneOrTimeout } from './long-poll-until-done-or-timeout.ts';

/** Additional dependencies of the approval handlers. */
export type ApprovalDependencies = {
  /** Sends the customer an e-mail about an approval request, in the transaction that creates the request. */
  readonly emailApprovalRequest: (em: EntityManager, requested: ApprovalWithQuote, now: Date) => Promise<void>;
  /** Authentication context class of a sign-in with a second factor (RFC 9470). */
  readonly secondFactorAcrValue: string;
};

type Dependencies = HandlerDependencies & EventHandlerDependencies & ApprovalDependencies;

export const approvalRoutes = (dependencies: Dependencies) =>
  initServer().router(contract.approvals, {
    create: (request) => handleCreateApproval(dependencies, request),
    list: (request) => handleListApprovals(dependencies, request),
    listAll: (request) => handleListAllApprovals(dependencies, request),
    get: (request) => handleGetApproval(dependencies, request),
    approve: (request) => handleApprove(dependencies, request),
    decline: (request) => handleDecline(dependencies, request),
    cancel: (request) => handleCancelApproval(dependencies, request),
  });

const locationFor = ({ id }: ApprovalBody): string => `/api/v1/approvals/${id}`;

const handleCreateApproval: RouteHandler<typeof contract.approvals.create, Dependencies> = (
  { em, emailApprovalRequest },
  { body, req, res },
) => {
  const effect = async (inner: EntityManager): Promise<ApprovalBody> => {
    const now = new Date();
    const requested = await requestApproval(inner, requirePrincipal(req), body, getClientAddressAndUserAgent(req), now);
    await emailApprovalRequest(inner, requested, now);
    return approvalFromEntity(requested, now);
  };
  return createResourceIdempotently(em, req, res, effect, locationFor);
};

const handleListApprovals: RouteHandler<typeof contract.approvals.list, Dependencies> = (dependencies, request) =>
  respondWithApprovals(dependencies, request, buildReadableApprovalsFilter(requirePrincipal(request.req)));

const handleListAllApprovals: RouteHandler<typeof contract.approvals.listAll, Dependencies> = (dependencies, request) =>
  respondWithApprovals(dependencies, request, buildApprovalsFilterForStaff(requirePrincipal(request.req), request.query.user_id));

type ListRequest = {
  readonly query: {
    readonly limit: number;
    readonly cursor?: string | undefined;
    readonly status?: readonly ApprovalStatus[] | undefined;
  };
  readonly req: MatchedRequest;
  readonly res: Response;
};

/** Returns the approvals that match both the filter and the query parameters. */
async function respondWithApprovals(
  { em, pages }: Dependencies,
  { query, req, res }: ListRequest,
  filter: ReturnType<typeof buildReadableApprovalsFilter>,
) {
  const now = new Date();
  const position = pages.decodeCursor(req, query);
  const filters = [
    filter,
    ...(query.status === undefined ? [] : [buildApprovalStatusFilter(query.status, now)]),
    ...(position ? [{ id: { $lt: position[1] } }] : []),
  ];
  const rows = await listApprovals(em, filters, query.limit + 1);
  const toItem = (found: ApprovalWithQuote) => approvalSummaryFromEntity(found, now);
  return { status: 200 as const, body: pages.respondWithPage(req, res, query, rows, toItem, ({ approval: { id } }) => [id, id]) };
}

const handleGetApproval: RouteHandler<typeof contract.approvals.get, Dependencies> = async (
  { em, newEvents },
  { params: { approval_id: id }, query: { wait }, req, res },
) => {
  const filter = buildReadableApprovalsFilter(requirePrincipal(req));
  const read = async (): Promise<ApprovalWithQuote> => {
    const found = await findApproval(em, filter, id);
    if (!found) throw createApprovalNotFoundProblem(id);
    return found;
  };
  const found =
    wait === 0
      ? await read()
      : await longPollUntilDoneOrTimeout({
          em,
          newEvents,
          res,
          seconds: wait,
          read,
          isDone: isNotPending,
          changesAt: ({ approval }) => approval.expiresAt,
        });
  res.set('Cache-Control', 'no-store');
  return { status: 200, body: approvalFromEntity(found, new Date()) };
};

const isNotPending = (found: ApprovalWithQuote): boolean => deriveApprovalStatus(found, new Date()) !== 'pending';

const handleApprove: RouteHandler<typeof contract.approvals.approve, Dependencies> = (
  { em, secondFactorAcrValue },
  { params: { approval_id: id }, req, res },
) => {
  const principal = requirePrincipal(req);
  const effect = async (inner: EntityManager): Promise<ApprovalBody> => {
    const now = new Date();
    const found = await lockApprovalToDecide(inner, principal, id);
    requireRecentSignIn(principal, now);
    if (await isSecondFactorRequiredToApprove(inner, found)) requireSecondFactor(principal, secondFactorAcrValue);
    return decide(inner, 'approved', found, req, now);
  };
  return createResourceIdempotently(em, req, res, effect, locationFor);
};

const handleDecline: RouteHandler<typeof contract.approvals.decline, Dependencies> = (
  { em },
  { params: { approval_id: id }, req, res },
) => {
  const effect = async (inner: EntityManager): Promise<ApprovalBody> =>
    decide(inner, 'declined', await lockApprovalToDecide(inner, requirePrincipal(req), id), req, new Date());
  return createResourceIdempotently(em, req, res, effect, locationFor);
};

async function decide(
  em: EntityManager,
  decision: 'approved' | 'declined',
  found: ApprovalWithQuote,
  req: Pick<Request, 'ip' | 'headers'>,
  now: Date,
): Promise<ApprovalBody> {
  const { clientId, hasSecondFactor } = requirePrincipal(req);
  const actor = { source: getClientAddressAndUserAgent(req), clientId, hasSecondFactor };
  return approvalFromEntity(await recordApprovalDecision(em, decision, found, actor, now), now);
}

/**
 * Locks and returns an approval that the principal's user can grant or decline.
 * @throws {Problem} `forbidden` if the application requested the approval itself, or is not one of the shop's own applications
 */
async function lockApprovalToDecide(em: EntityManager, principal: Principal, id: number): Promise<ApprovalWithQuote> {
  assertNoOrderLimits(principal, 'approve or decline orders');
  const { clientId, grantId, user } = principal;
  if (grantId === undefined || (await em.count(Application, { clientId, firstParty: true })) === 0) {
    throw createProblem('forbidden', {
      detail: 'Only a customer who is signed in to an application that the shop operates can approve or decline orders.',
    });
  }
  const found = await lockApproval(em, buildCustomerApprovalsFilter(user?.id ?? 0), id);
  if (!found) throw createApprovalNotFoundProblem(id);
  if (found.approval.clientId !== clientId) return found;
  throw createProblem('forbidden', { detail: 'An application cannot approve or decline its own requests.' });
}

const handleCancelApproval: RouteHandler<typeof contract.approvals.cancel, Dependencies> = (
  { em },
  { params: { approval_id: id }, req, res },
) => {
  const { clientId, user } = requirePrincipal(req);
  const effect = async (inner: EntityManager): Promise<ApprovalBody> => {
    const now = new Date();
    const found = await lockApproval(inner, buildCustomerApprovalsFilter(user?.id ?? 0, clientId), id);
    if (!found) throw createApprovalNotFoundProblem(id);
    const actor = { source: getClientAddressAndUserAgent(req), clientId };
    return approvalFromEntity(await cancelApproval(inner, found, actor, now), now);
  };
  return createResourceIdempotently(em, req, res, effect, locationFor);
};
