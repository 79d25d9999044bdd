import { initServer } from '@ts-rest/express';
import { contract, type Refund as RefundBody, refundStatuses } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { respondWithEtag } from '../http/response/etag.ts';
import { createIdempotently, createIdempotentlyInSteps } from '../http/writes/idempotency.ts';
import { totalCountFields } from '../http/response/list-parameters.ts';
import type { Principal } from '../http/request/principal.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { requirePrincipal } from '../http/request/request-context.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import { listOrderSubresources } from '../orders/list-order-subresources.ts';
import { resolveOrderOwnerFilter } from '../orders/order-visibility.ts';
import { orderResourcesAfterPositionFilter, accessibleOrdersFilter, assertOrderAccessible } from '../orders/order-access.ts';
import type { PaymentHandlerDependencies } from '../payments/providers/payment-provider.ts';
import { applyRefundOutcome, submitRefund } from './submit-refund.ts';
import { refundFromEntity } from './refund-response.ts';
import { refundOrder } from './refund-order.ts';
import { Refund } from './refund.entity.ts';

const locationFor = ({ id }: RefundBody): string => `/api/v1/refunds/${id}`;

export const refundRoutes = ({ em, readList, pages, providers }: HandlerDependencies & PaymentHandlerDependencies) =>
  initServer().router(contract.refunds, {
    create: async ({ params: { order_id: orderId }, body, req, res }) => {
      const principal = requirePrincipal(req);
      const readState = async ({ id }: RefundBody): Promise<RefundBody> =>
        refundFromEntity(await em.findOneOrFail(Refund, { id }, { refresh: true }));
      return createIdempotentlyInSteps(em, req, res, {
        start: async (inner) => refundFromEntity(await refundOrder(inner, principal, orderId, body, new Date())),
        async complete(created) {
          await submitRefund(em, providers, created.id);
          return readState(created);
        },
        readState,
        location: locationFor,
      });
    },

    list: async ({ params: { order_id: id }, query, req, res }) => {
      await assertOrderAccessible(em, requirePrincipal(req), id, 'payments.manage');
      const where = orderResourcesAfterPositionFilter(id, pages.decodeCursor(req, query));
      const rows = await em.find(Refund, where, { orderBy: { id: 'desc' }, limit: query.limit + 1, refresh: true });
      const page = pages.respondWithPage(req, res, query, rows, refundFromEntity, (refund) => [refund.id, refund.id]);
      return { status: 200, body: { ...page, ...(await totalCountFields(query, () => em.count(Refund, { order: id }))) } };
    },

    listAll: async ({ query, req, res }) => {
      const refunds = {
        table: 'refunds',
        statuses: refundStatuses,
        userId: resolveOrderOwnerFilter(requirePrincipal(req), query.user_id, 'payments.manage'),
        narrowedBy: { column: 'payment_id', value: query.payment_id },
        find: (from: EntityManager, ids: number[]) => from.find(Refund, { id: { $in: ids } }, { refresh: true }),
        toBody: refundFromEntity,
      } as const;
      return listOrderSubresources({ readList, pages, req, res, query }, refunds);
    },

    get: async ({ params: { refund_id: id }, req, res }) =>
      respondWithEtag(req, res, `refund-${id}`, refundFromEntity(await findRefund(em, requirePrincipal(req), id))),

    confirm: ({ params: { refund_id: id }, req, res }) => {
      const effect = async (inner: EntityManager): Promise<RefundBody> => {
        const refund = await inner.findOne(Refund, { id }, { populate: ['payment'], refresh: true });
        if (!refund) throw notFound(id);
        const { provider } = refund.payment.unwrap();
        if (provider !== 'manual' || refund.status !== 'pending') {
          throw createProblem('invalid_transition', { detail: `This is a ${refund.status} refund of the provider ${provider}.` });
        }
        return refundFromEntity(await applyRefundOutcome(inner, id, { reference: refund.providerReference ?? null, status: 'succeeded' }));
      };
      return createIdempotently(em, req, res, effect, locationFor);
    },
  });

/** Returns a refund of an order that the principal may access. */
async function findRefund(em: EntityManager, principal: Principal, id: number): Promise<Refund> {
  const refund = await em.findOne(Refund, { id, order: accessibleOrdersFilter(principal, 'payments.manage') }, { refresh: true });
  if (!refund) throw notFound(id);
  return refund;
}

const notFound = (id: number) => createProblem('not_found', { detail: `Refund ${id} was not found.` });
