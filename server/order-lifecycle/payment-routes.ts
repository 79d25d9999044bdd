import { initServer } from '@ts-rest/express';
import { contract, type Payment as PaymentBody, paymentStatuses } from '@mandate/contract';
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
import { assertOrderActionAllowed } from '../order-limits/assert-order-action-allowed.ts';
import { submitOrPollRefund } from '../refunds/submit-or-poll-refund.ts';
import { cancelPaymentAtProvider } from './cancel-payment-at-provider.ts';
import { assertOrderAccessible } from '../orders/check-order-access-and-build-filters.ts';
import { findPaymentOrThrow, listPaymentsOfOrder } from '../payments/find-or-list-payments.ts';
import { paymentFromEntityForPrincipal } from '../payments/payment-from-entity.ts';
import { Payment } from '../payments/payment.entity.ts';
import type { PaymentHandlerDependencies, PaymentProviders } from '../payments/providers/payment-provider.ts';
import { applyPaymentOutcomeInTransaction } from './apply-payment-outcome.ts';
import { submitPaymentToProvider, checkLimitsAndCreatePendingPayment } from './create-and-submit-payment.ts';

const locationFor = ({ id }: PaymentBody): string => `/api/v1/payments/${id}`;

const readPayment =
  (em: EntityManager, principal: Principal) =>
  async ({ id }: PaymentBody): Promise<PaymentBody> =>
    paymentFromEntityForPrincipal(principal, await findPaymentOrThrow(em, principal, id));

type Dependencies = HandlerDependencies & PaymentHandlerDependencies;

export const paymentRoutes = (dependencies: Dependencies) =>
  initServer().router(contract.payments, {
    create: (request) => handleCreatePayment(dependencies, request),
    list: (request) => handleListPaymentsOfOrder(dependencies, request),
    listAll: (request) => handleListPayments(dependencies, request),
    get: (request) => handleGetPayment(dependencies, request),
    cancel: (request) => handleCancelPayment(dependencies, request),
    confirm: (request) => handleConfirmPayment(dependencies, request),
  });

const handleCreatePayment: RouteHandler<typeof contract.payments.create, Dependencies> = async (
  { em, providers },
  { params, body, req, res },
) => {
  const principal = requirePrincipal(req);
  const readState = readPayment(em, principal);
  return createResourceIdempotentlyThenFinishOutsideTransaction(em, req, res, {
    start: async (inner) =>
      paymentFromEntityForPrincipal(
        principal,
        await checkLimitsAndCreatePendingPayment(inner, providers, principal, params.order_id, body),
      ),
    complete: async (started) => submitPaymentToProvider(em, providers, started.id, new Date()).then(() => readState(started)),
    readState,
    location: locationFor,
  });
};

const handleListPaymentsOfOrder: RouteHandler<typeof contract.payments.list, Dependencies> = async (
  { em, pages },
  { params: { order_id: id }, query, req, res },
) => {
  const principal = requirePrincipal(req);
  await assertOrderAccessible(em, principal, id, 'payments.manage');
  const rows = await listPaymentsOfOrder(em, id, pages.decodeCursor(req, query), query.limit);
  const toItem = (payment: (typeof rows)[number]): PaymentBody => paymentFromEntityForPrincipal(principal, payment);
  const page = pages.respondWithPage(req, res, query, rows, toItem, (payment) => [payment.id, payment.id]);
  return { status: 200, body: { ...page, ...(await createTotalCountFields(query, () => em.count(Payment, { order: id }))) } };
};

const handleListPayments: RouteHandler<typeof contract.payments.listAll, Dependencies> = ({ readList, pages }, { query, req, res }) => {
  const principal = requirePrincipal(req);
  return respondWithPaymentsRefundsOrShipments({ readList, pages, req, res, query }, paymentSubresource(principal, query.user_id));
};

const handleGetPayment: RouteHandler<typeof contract.payments.get, Dependencies> = async (
  { em },
  { params: { payment_id: id }, req, res },
) =>
  respondWithEtagOrNotModified(
    req,
    res,
    `payment-${id}`,
    paymentFromEntityForPrincipal(requirePrincipal(req), await findPaymentOrThrow(em, requirePrincipal(req), id)),
  );

const handleCancelPayment: RouteHandler<typeof contract.payments.cancel, Dependencies> = async (
  { em, providers },
  { params: { payment_id: id }, req, res },
) => {
  const principal = requirePrincipal(req);
  await findPaymentOrThrow(em, principal, id);
  assertOrderActionAllowed(principal, 'pay', new Date());
  const asked = await cancelPaymentAtProvider(em, providers, id, new Date());
  const effect = async (inner: EntityManager): Promise<PaymentBody> => {
    const payment = await findPaymentOrThrow(inner, principal, id);
    if (asked && payment.status === 'canceled') return paymentFromEntityForPrincipal(principal, payment);
    throw createProblem('invalid_transition', {
      detail: translatable`The payment has the status ${{ status: payment.status }} and cannot be canceled now.`,
    });
  };
  return createResourceIdempotently(em, req, res, effect, locationFor);
};

const handleConfirmPayment: RouteHandler<typeof contract.payments.confirm, Dependencies> = async (
  { em, providers },
  { params: { payment_id: id }, req, res },
) => {
  const principal = requirePrincipal(req);
  let refundId: number | undefined;
  const effect = async (inner: EntityManager): Promise<PaymentBody> => {
    refundId = await confirmPayment(inner, providers, await findPaymentOrThrow(inner, principal, id), new Date());
    return paymentFromEntityForPrincipal(principal, await findPaymentOrThrow(inner, principal, id));
  };
  const confirmed = await createResourceIdempotently(em, req, res, effect, locationFor);
  if (refundId !== undefined) await submitOrPollRefund(em, providers, refundId);
  return confirmed;
};

/** Marks a manual payment as succeeded. Returns the ID of the refund to submit if the order no longer needs the payment. */
function confirmPayment(em: EntityManager, providers: PaymentProviders, payment: Payment, now: Date): Promise<number | undefined> {
  const { provider, status, amount: amountReceived, currency } = payment;
  if (provider === 'manual' && status !== 'succeeded') {
    const outcome = { reference: payment.providerReference ?? null, status: 'succeeded', amountReceived, currency } as const;
    return applyPaymentOutcomeInTransaction(em, providers, payment, outcome, now);
  }
  throw createProblem('invalid_transition', {
    detail: translatable`This payment belongs to the provider ${{ provider }} and has the status ${{ status }}.`,
  });
}

/**
 * Returns the list definition for the payments that the principal may see. If `userId` is given, the list contains only that customer's
 * payments.
 */
const paymentSubresource = (principal: Principal, userId: number | undefined) =>
  ({
    table: 'payments',
    statuses: paymentStatuses,
    ...authorizeAndGetListedUserAndClient(principal, userId, 'payments.manage'),
    find: (em: EntityManager, ids: number[]) => em.find(Payment, { id: { $in: ids } }, { refresh: true }),
    toBody: (payment: Payment) => paymentFromEntityForPrincipal(principal, payment),
  }) as const;
