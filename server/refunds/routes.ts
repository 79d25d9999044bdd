import { initServer } from '@ts-rest/express';
import { sql } from 'kysely';
import { contract, type Refund as RefundBody, refundStatuses } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { found } from '../http/response/etag.ts';
import { once, onceInSteps } from '../http/writes/idempotency.ts';
import { total } from '../http/response/list-parameters.ts';
import type { Principal } from '../http/request/principal.ts';
import { problem } from '../http/problem-details/problem.ts';
import { principalOf } from '../http/request/request-context.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { orderSubresourcePage } from '../orders/list-order-subresources.ts';
import { whoseOrders } from '../orders/order-visibility.ts';
import { belowPosition, ownOrders, requireOrder } from '../orders/order-access.ts';
import type { PaymentDeps } from '../payments/providers/payment-provider.ts';
import { applyRefundOutcome, askForRefund } from './submit-refund.ts';
import { refundBody } from './refund-body.ts';
import { refundOrder } from './refund-order.ts';
import { Refund } from './refund.entity.ts';

const locationFor = ({ id }: RefundBody): string => `/api/v1/refunds/${id}`;

export const refundRoutes = ({ em, readList, pages, providers }: ResourceDeps & PaymentDeps) =>
  initServer().router(contract.refunds, {
    create: async ({ params: { order_id: orderId }, body, req, res }) => {
      const principal = principalOf(req);
      const readState = async ({ id }: RefundBody): Promise<RefundBody> =>
        refundBody(await em.findOneOrFail(Refund, { id }, { refresh: true }));
      return onceInSteps(em, req, res, {
        begin: async (inner) => refundBody(await refundOrder(inner, principal, orderId, body, new Date())),
        async goOn(created) {
          await askForRefund(em, providers, created.id);
          return readState(created);
        },
        look: readState,
        location: locationFor,
      });
    },

    list: async ({ params: { order_id: id }, query, req, res }) => {
      await requireOrder(em, principalOf(req), id, 'payments.manage');
      const where = belowPosition(id, pages.positionOf(req, query));
      const rows = await em.find(Refund, where, { orderBy: { id: 'desc' }, limit: query.limit + 1, refresh: true });
      const page = pages.answer(req, res, query, rows, refundBody, (refund) => [refund.id, refund.id]);
      return { status: 200, body: { ...page, ...(await total(query, () => em.count(Refund, { order: id }))) } };
    },

    listAll: async ({ query, req, res }) => {
      const refunds = {
        table: 'refunds',
        statuses: refundStatuses,
        userId: whoseOrders(principalOf(req), query.user_id, 'payments.manage'),
        narrowedBy: query.payment_id === undefined ? undefined : sql`payment_id = ${query.payment_id}`,
        find: (from: Em, ids: number[]) => from.find(Refund, { id: { $in: ids } }, { refresh: true }),
        toBody: refundBody,
      } as const;
      return orderSubresourcePage({ readList, pages, req, res, query }, refunds);
    },

    get: async ({ params: { refund_id: id }, req, res }) =>
      found(req, res, `refund-${id}`, refundBody(await findRefund(em, principalOf(req), id))),

    confirm: ({ params: { refund_id: id }, req, res }) => {
      const effect = async (inner: Em): Promise<RefundBody> => {
        const refund = await inner.findOne(Refund, { id }, { populate: ['payment'], refresh: true });
        if (!refund) throw notFound(id);
        const { provider } = refund.payment.unwrap();
        if (provider !== 'manual' || refund.status !== 'pending') {
          throw problem('invalid_transition', { detail: `This is a ${refund.status} refund of the provider ${provider}.` });
        }
        return refundBody(await applyRefundOutcome(inner, id, { reference: refund.providerReference ?? null, status: 'succeeded' }));
      };
      return once(em, req, res, effect, locationFor);
    },
  });

/** Returns a refund of an order that the principal may access. */
async function findRefund(em: Em, principal: Principal, id: number): Promise<Refund> {
  const refund = await em.findOne(Refund, { id, order: ownOrders(principal, 'payments.manage') }, { refresh: true });
  if (!refund) throw notFound(id);
  return refund;
}

const notFound = (id: number) => problem('not_found', { detail: `Refund ${id} was not found.` });
