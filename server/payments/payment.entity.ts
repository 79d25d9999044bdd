import { defineEntity, p } from '@mikro-orm/core';
import { paymentFailureCodes, paymentProviderNames, paymentStatuses, type Payment as PaymentBody } from '@mandate/contract';
import { versionAndTimestampProperties } from '../database/entity-manager/version-and-timestamp-properties.ts';
import { Order } from '../orders/order-and-order-item.entity.ts';
import type { PaymentStateAtProvider } from './providers/payment-provider.ts';

/** Statuses in which a payment can still succeed without a new attempt. */
export const openPaymentStatuses = ['pending', 'requires_action', 'processing'] as const;
export const isOpenPaymentStatus = (status: PaymentBody['status']): boolean => openPaymentStatuses.some((open) => open === status);
const isOpenSql = `status in ('pending', 'requires_action', 'processing')`;

const schema = defineEntity({
  name: 'Payment',
  tableName: 'payments',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    order: () => p.manyToOne(Order).ref().deleteRule('no action').updateRule('no action'),
    attempt: p.integer(),
    provider: p.enum(paymentProviderNames),
    status: p.enum(paymentStatuses),
    amount: p.bigint('number').check('amount > 0'),
    currency: p.character().length(3),
    refundedTotal: p.bigint('number').name('refunded_amount').default(0).check('refunded_amount >= 0 and refunded_amount <= amount'),
    /**
     * Whether the order was already paid when this payment succeeded. A surplus payment is refunded and does not count toward the order's
     * total.
     */
    surplus: p.boolean().default(false),
    providerReference: p.text().nullable(),
    /** Idempotency key of the request to the provider. */
    providerKey: p.uuid().defaultRaw('gen_random_uuid()'),
    /** Parameters of the request to the provider; `null` after the provider has responded. */
    request: p.json<{ methodToken?: string; returnUrl?: string }>().nullable(),
    nextAction: p.json<NonNullable<PaymentBody['next_action']>>().nullable(),
    failureCode: p.enum(paymentFailureCodes).nullable(),
    failureMessage: p.text().nullable(),
    /** Time at which the server next polls the provider; `null` if staff report the outcome. */
    nextCheckAt: p.datetime(3).nullable(),
    ...versionAndTimestampProperties(),
    succeededAt: p.datetime(3).nullable(),
  },
  uniques: [
    { name: 'payments_attempt', properties: ['order', 'attempt'] },
    { name: 'payments_one_open', properties: ['order'], where: isOpenSql },
    { name: 'payments_one_paid', properties: ['order'], where: `status = 'succeeded' and not surplus` },
    { name: 'payments_provider_reference', properties: ['provider', 'providerReference'], where: 'provider_reference is not null' },
  ],
  indexes: [
    { name: 'payments_status_created', properties: ['status', 'createdAt', 'id'] },
    { name: 'payments_next_check', properties: ['nextCheckAt'], where: isOpenSql },
  ],
});

/**
 * Provider events arrive in any order, so a payment's status never changes to a status with a lower rank. A failed or canceled payment can
 * still succeed.
 */
const rank = { pending: 0, requires_action: 1, processing: 2, failed: 3, canceled: 3, succeeded: 4 } as const;

export class Payment extends schema.class {
  /** Applies the outcome that the provider reports. Returns false if the outcome changes nothing. */
  applyOutcome(outcome: PaymentStateAtProvider, now: Date): boolean {
    this.providerReference ??= outcome.reference;
    this.request = null;
    if (rank[outcome.status] < rank[this.status]) return false;
    const isOpen = rank[outcome.status] < rank.failed;
    if (outcome.status === this.status || rank[outcome.status] > rank[this.status])
      this.nextAction = (isOpen && outcome.nextAction) || null;
    if (rank[outcome.status] === rank[this.status]) return false;
    this.status = outcome.status;
    this.failureCode = outcome.status === 'failed' ? (outcome.failure?.code ?? 'unknown') : null;
    this.failureMessage = outcome.status === 'failed' ? (outcome.failure?.message ?? null) : null;
    if (!isOpen) this.nextCheckAt = null;
    if (outcome.status === 'succeeded') this.succeededAt = now;
    return true;
  }
}
schema.setClass(Payment);
