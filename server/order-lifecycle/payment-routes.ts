import { initServer } from '@ts-rest/express';
import { contract, type Payment as PaymentBody, paymentSteps } from '@mandate/contract';
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
import { askForRefund } from '../refunds/submit-refund.ts';
import { cancelPayment } from './cancel-payment.ts';
import { requireOrder } from '../orders/order-access.ts';
import { findPayment, listPayments } from '../payments/find-payment.ts';
import { paymentFor } from '../payments/payment-body.ts';
import { Payment } from '../payments/payment.entity.ts';
import type { PaymentDeps, PaymentProviders } from '../payments/providers/payment-provider.ts';
import { applyOutcome } from './apply-payment-outcome.ts';
import { askForPayment, startPayment } from './start-payment.ts';

const locationFor = ({ id }: PaymentBody): string => `/api/v1/payments/${id}`;

export const paymentRoutes = ({ em, readList, pages, providers }: ResourceDeps & PaymentDeps) =>
  initServer().router(contract.payments, {
    create: async ({ params, body, req, res }) => {
      const principal = principalOf(req);
      const readState = async ({ id }: PaymentBody): Promise<PaymentBody> => paymentFor(principal, await findPayment(em, principal, id));
      return onceInSteps(em, req, res, {
        begin: async (inner) => paymentFor(principal, await startPayment(inner, providers, principal, params.order_id, body)),
        async goOn(started) {
          await askForPayment(em, providers, started.id, new Date());
          return readState(started);
        },
        look: readState,
        location: locationFor,
      });
    },

    list: async ({ params: { order_id: id }, query, req, res }) => {
      const principal = principalOf(req);
      await requireOrder(em, principal, id, 'payments.manage');
      const rows = await listPayments(em, id, pages.positionOf(req, query), query.limit);
      const toItem = (payment: (typeof rows)[number]): PaymentBody => paymentFor(principal, payment);
      const page = pages.answer(req, res, query, rows, toItem, (payment) => [payment.id, payment.id]);
      return { status: 200, body: { ...page, ...(await total(query, () => em.count(Payment, { order: id }))) } };
    },

    listAll: ({ query, req, res }) => {
      const principal = principalOf(req);
      return orderSubresourcePage({ readList, pages, req, res, query }, paymentSubresource(principal, query.user_id));
    },

    get: async ({ params: { payment_id: id }, req, res }) =>
      found(req, res, `payment-${id}`, paymentFor(principalOf(req), await findPayment(em, principalOf(req), id))),

    cancel: async ({ params: { payment_id: id }, req, res }) => {
      const principal = principalOf(req);
      await findPayment(em, principal, id);
      const asked = await cancelPayment(em, providers, id, new Date());
      const effect = async (inner: Em): Promise<PaymentBody> => {
        const payment = await findPayment(inner, principal, id);
        if (asked && payment.status === 'canceled') return paymentFor(principal, payment);
        throw problem('invalid_transition', { detail: `The payment is ${payment.status}; it cannot be canceled now.` });
      };
      return once(em, req, res, effect, locationFor);
    },

    confirm: async ({ params: { payment_id: id }, req, res }) => {
      const principal = principalOf(req);
      let refundId: number | undefined;
      const effect = async (inner: Em): Promise<PaymentBody> => {
        refundId = await confirmPayment(inner, providers, await findPayment(inner, principal, id), new Date());
        return paymentFor(principal, await findPayment(inner, principal, id));
      };
      const confirmed = await once(em, req, res, effect, locationFor);
      if (refundId !== undefined) await askForRefund(em, providers, refundId);
      return confirmed;
    },
  });

/** Marks a manual payment as succeeded. Returns the id of the refund to submit if the order no longer needs the payment. */
function confirmPayment(em: Em, providers: PaymentProviders, payment: Payment, now: Date): Promise<number | undefined> {
  const { id, provider, status, amount: amountReceived, currency } = payment;
  if (provider === 'manual' && status !== 'succeeded') {
    const outcome = { reference: payment.providerReference ?? null, status: 'succeeded', amountReceived, currency } as const;
    return applyOutcome(em, providers, id, outcome, now);
  }
  throw problem('invalid_transition', { detail: `This is a ${status} payment of the provider ${provider}.` });
}

/** Returns the list definition of the payments that the principal may see, of one customer if `userId` is given. */
const paymentSubresource = (principal: Principal, userId: number | undefined) =>
  ({
    table: 'payments',
    statuses: paymentSteps,
    userId: whoseOrders(principal, userId, 'payments.manage'),
    find: (em: Em, ids: number[]) => em.find(Payment, { id: { $in: ids } }, { refresh: true }),
    toBody: (payment: Payment) => paymentFor(principal, payment),
  }) as const;
