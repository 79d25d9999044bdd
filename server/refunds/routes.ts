import { initServer } from '@ts-rest/express';
import { contract, type Refund as RefundBody, refundStatuses, type Scope } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { respondWithEtagOrNotModified } from '../http/response/etag-and-conditional-requests.ts';
import { createResourceIdempotently, createResourceIdempotentlyThenFinishOutsideTransaction } from '../http/writes/idempotency.ts';
import { createTotalCountFields } from '../http/response/time-range-and-total-count.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { respondWithPaymentsRefundsOrShipments } from '../orders/respond-with-payments-refunds-or-shipments.ts';
import { authorizeAndGetListedUserAndClient } from '../orders/authorize-and-get-listed-user-and-client.ts';
import {
  buildOrderSubresourcePageFilter,
  buildAccessibleOrdersFilter,
  assertOrderAccessible,
} from '../orders/check-order-access-and-build-filters.ts';
import type { PaymentHandlerDependencies } from '../payments/providers/payment-provider.ts';
import { applyRefundOutcomeInTransaction, submitOrPollRefund } from './submit-or-poll-refund.ts';
import { refundFromEntity } from './refund-from-entity.ts';
import { createRequestedRefundAndRestock } from './create-requested-refund-and-restock.ts';
import { Refund } from './refund.entity.ts';

const locationFor = ({ id }: RefundBody): string => `/api/v1/refunds/${id}`;

type Dependencies = HandlerDependencies & PaymentHandlerDependencies;

export const refundRoutes = (dependencies: Dependencies) =>
  initServer().router(contract.refunds, {
    create: (request) => handleCreateRefund(dependencies, request),
    list: (request) => handleListRefundsOfOrder(dependencies, request),
    listAll: (request) => handleListRefunds(dependencies, request),
    get: (request) => handleGetRefund(dependencies, request),
    confirm: (request) => handleConfirmRefund(dependencies, request),
  });

const handleCreateRefund: RouteHandler<typeof contract.refunds.create, Dependencies> = async (
  { em, providers },
  { params: { order_id: orderId }, body, req, res },
) => {
  const principal = requirePrincipal(req);
  const readState = async ({ id }: RefundBody): Promise<RefundBody> =>
    refundFromEntity(await em.findOneOrFail(Refund, { id }, { refresh: true }));
  return createResourceIdempotentlyThenFinishOutsideTransaction(em, req, res, {
    start: async (inner) => refundFromEntity(await createRequestedRefundAndRestock(inner, principal, orderId, body, new Date())),
    async complete(created) {
      await submitOrPollRefund(em, providers, created.id);
      return readState(created);
    },
    readState,
    location: locationFor,
  });
};

const handleListRefundsOfOrder: RouteHandler<typeof contract.refunds.list, Dependencies> = async (
  { em, pages },
  { params: { order_id: id }, query, req, res },
) => {
  await assertOrderAccessible(em, requirePrincipal(req), id, 'payments.manage');
  const where = buildOrderSubresourcePageFilter(id, pages.decodeCursor(req, query));
  const rows = await em.find(Refund, where, { orderBy: { id: 'desc' }, limit: query.limit + 1, refresh: true });
  const page = pages.respondWithPage(req, res, query, rows, refundFromEntity, (refund) => [refund.id, refund.id]);
  return { status: 200, body: { ...page, ...(await createTotalCountFields(query, () => em.count(Refund, { order: id }))) } };
};

const handleListRefunds: RouteHandler<typeof contract.refunds.listAll, Dependencies> = async ({ readList, pages }, { query, req, res }) => {
  const refunds = {
    table: 'refunds',
    statuses: refundStatuses,
    ...authorizeAndGetListedUserAndClient(requirePrincipal(req), query.user_id, 'payments.manage'),
    narrowedBy: { column: 'payment_id', value: query.payment_id },
    find: (from: EntityManager, ids: number[]) => from.find(Refund, { id: { $in: ids } }, { refresh: true }),
    toBody: refundFromEntity,
  } as const;
  return respondWithPaymentsRefundsOrShipments({ readList, pages, req, res, query }, refunds);
};

const handleGetRefund: RouteHandler<typeof contract.refunds.get, Dependencies> = async ({ em }, { params: { refund_id: id }, req, res }) =>
  respondWithEtagOrNotModified(
    req,
    res,
    `refund-${id}`,
    refundFromEntity(await findRefund(em, requirePrincipal(req), id, 'payments.manage')),
  );

const handleConfirmRefund: RouteHandler<typeof contract.refunds.confirm, Dependencies> = (
  { em },
  { params: { refund_id: id }, req, res },
) => {
  const effect = async (inner: EntityManager): Promise<RefundBody> => {
    const refund = await findRefund(inner, requirePrincipal(req), id, 'refunds.write');
    const { provider } = await refund.payment.loadOrFail();
    if (provider !== 'manual' || refund.status !== 'pending') {
      throw createProblem('invalid_transition', {
        detail: translatable`This refund belongs to the provider ${{ provider }} and has the status ${{ status: refund.status }}.`,
      });
    }
    return refundFromEntity(
      await applyRefundOutcomeInTransaction(inner, id, { reference: refund.providerReference ?? null, status: 'succeeded' }),
    );
  };
  return createResourceIdempotently(em, req, res, effect, locationFor);
};

/** Returns a refund of an order that the principal may access. */
async function findRefund(em: EntityManager, principal: Principal, id: number, scopeForAllOrders: Scope): Promise<Refund> {
  const accessible = { id, order: buildAccessibleOrdersFilter(principal, scopeForAllOrders) };
  const refund = await em.findOne(Refund, accessible, { refresh: true });
  if (!refund) throw notFound(id);
  return refund;
}

const notFound = (id: number) => createProblem('not_found', { detail: translatable`Refund ${{ id }} was not found.` });
