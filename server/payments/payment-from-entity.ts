import type { Payment as PaymentBody } from '@mandate/contract';
import { canUseScope } from '../http/middleware/authorize-by-scope.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import type { Payment } from './payment.entity.ts';

/**
 * Returns the part of a payment that every reader of its order can see. This part includes neither the provider reference nor the action
 * that lets the client pay.
 */
export const paymentWithoutProviderDetailsFromEntity = (payment: Payment): PaymentBody => ({
  id: payment.id,
  order_id: payment.order.id,
  attempt: payment.attempt,
  provider: payment.provider,
  status: payment.status,
  amount: payment.amount,
  currency: payment.currency,
  refunded_total: payment.refundedTotal,
  refunded_amount: payment.refundedTotal,
  provider_reference: null,
  next_action: null,
  failure_code: payment.failureCode ?? null,
  failure_message: payment.failureMessage ?? null,
  version: payment.version,
  created_at: payment.createdAt.toISOString(),
  updated_at: payment.updatedAt.toISOString(),
  succeeded_at: payment.succeededAt?.toISOString() ?? null,
});

/** Returns a payment with the fields that the principal may see. */
export const paymentFromEntityForPrincipal = (principal: Principal, payment: Payment): PaymentBody => ({
  ...paymentWithoutProviderDetailsFromEntity(payment),
  provider_reference: canUseScope(principal, 'payments.manage') ? (payment.providerReference ?? null) : null,
  next_action: principal.scopes.has('payments.write') || canUseScope(principal, 'payments.manage') ? (payment.nextAction ?? null) : null,
});
