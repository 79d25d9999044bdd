import { defineEntity, p } from '@mikro-orm/core';
import { refundReasons, refundStatuses, type LineQuantity } from '@mandate/contract';
import { versionAndTimestampProperties } from '../database/entity-manager/version-and-timestamp-properties.ts';
import { Order } from '../orders/order-and-order-item.entity.ts';
import { Payment } from '../payments/payment.entity.ts';
import type { RefundStateAtProvider } from '../payments/providers/payment-provider.ts';

const schema = defineEntity({
  name: 'Refund',
  tableName: 'refunds',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    order: () => p.manyToOne(Order).ref().deleteRule('no action').updateRule('no action'),
    payment: () => p.manyToOne(Payment).ref().deleteRule('no action').updateRule('no action'),
    status: p.enum(refundStatuses),
    amount: p.bigint('number').check('amount > 0'),
    currency: p.character().length(3),
    reason: p.enum(refundReasons),
    note: p.text().nullable().check('length(note) <= 500'),
    restock: p.json<LineQuantity[]>(),
    providerReference: p.text().nullable(),
    /** Idempotency key of the request to the provider. */
    providerKey: p.uuid().defaultRaw('gen_random_uuid()'),
    failureCode: p.text().nullable(),
    /** The client and user that requested the refund, or the service itself. */
    actor: p.text(),
    /** Time at which the server next polls the provider; `null` if staff report the outcome. */
    nextCheckAt: p.datetime(3).nullable(),
    ...versionAndTimestampProperties(),
  },
  triggers: [
    {
      name: 'record_statistics',
      timing: 'after',
      events: ['insert', 'update', 'delete'],
      expression:
        'create trigger record_statistics after insert or update or delete on refunds for each row execute function record_refund_statistics()',
    },
  ],
  indexes: [
    { name: 'refunds_order', properties: ['order', 'id'] },
    { name: 'refunds_status_created', properties: ['status', 'createdAt', 'id'] },
    { name: 'refunds_payment', properties: ['payment'] },
    { name: 'refunds_provider_reference', properties: ['providerReference'], where: 'provider_reference is not null' },
    { name: 'refunds_next_check', properties: ['nextCheckAt'], where: `status = 'pending'` },
  ],
});

export class Refund extends schema.class {
  /** Applies the outcome that the provider reports. Returns false if the outcome changes nothing. A final status never changes. */
  applyOutcome(outcome: RefundStateAtProvider): boolean {
    if (this.status !== 'pending') return false;
    this.providerReference ??= outcome.reference;
    if (outcome.status === 'pending') return false;
    this.status = outcome.status;
    this.failureCode = outcome.failureCode ?? null;
    this.nextCheckAt = null;
    return true;
  }
}
schema.setClass(Refund);
