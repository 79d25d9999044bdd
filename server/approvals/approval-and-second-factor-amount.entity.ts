import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import type { ApprovalReason } from '@mandate/contract';
import { versionAndTimestampProperties } from '../database/entity-manager/version-and-timestamp-properties.ts';
import { Order } from '../orders/order-and-order-item.entity.ts';
import { Quote } from '../quotes/quote-and-quote-reservation.entity.ts';
import { User } from '../users/user.entity.ts';

/**
 * A request for the customer's approval of an order, based on one quote. The status is not stored; `deriveApprovalStatus` computes it. The
 * SQL function `place_order` sets `usedAt` and `order`.
 */
export const Approval = defineEntity({
  name: 'Approval',
  tableName: 'approvals',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    quote: () => p.manyToOne(Quote).ref().deleteRule('cascade').updateRule('no action').index(false),
    /** The customer. */
    user: () => p.manyToOne(User).mapToPk().deleteRule('no action').updateRule('no action').index(false),
    /** The application that requested the approval. */
    clientId: p.text(),
    /** The grant that must authorize the order. */
    grantId: p.text(),
    message: p.text().nullable().check('length(message) <= 500'),
    /** Why the order needed approval at the time of the request; null if the order was within all limits. */
    reason: p.json<ApprovalReason>().nullable(),
    /** When the quote expires. */
    expiresAt: p.datetime(3),
    approvedAt: p.datetime(3).nullable(),
    declinedAt: p.datetime(3).nullable(),
    canceledAt: p.datetime(3).nullable(),
    usedAt: p.datetime(3).nullable(),
    order: () => p.oneToOne(Order).mapToPk().nullable().unique().deleteRule('no action').updateRule('no action'),
    /** When the expiration event was recorded. */
    expirationReportedAt: p.datetime(3).nullable(),
    ...versionAndTimestampProperties(),
  },
  checks: [
    { name: 'approvals_used', expression: '(order_id is null) = (used_at is null) and (used_at is null or approved_at is not null)' },
    { name: 'approvals_ended_once', expression: 'num_nonnulls(declined_at, canceled_at, used_at, expiration_reported_at) <= 1' },
  ],
  uniques: [{ name: 'approvals_one_per_quote', properties: ['quote'], where: 'canceled_at is null' }],
  indexes: [
    { name: 'approvals_quote', properties: ['quote'] },
    { name: 'approvals_user', properties: ['user', 'id'] },
    { name: 'approvals_grant_created', properties: ['grantId', 'createdAt'] },
    {
      name: 'approvals_expiration',
      properties: ['expiresAt'],
      where: 'declined_at is null and canceled_at is null and used_at is null and expiration_reported_at is null',
    },
  ],
});
export type ApprovalEntity = InferEntity<typeof Approval>;

/** The amount above which a customer must use a second factor to approve an order. Customers without a row never need a second factor. */
export const AmountRequiringSecondFactor = defineEntity({
  name: 'AmountRequiringSecondFactor',
  tableName: 'approval_settings',
  properties: {
    user: p.manyToOne(User).mapToPk().primary().deleteRule('cascade').updateRule('no action'),
    /** In minor units. Orders in any other currency always require the second factor. */
    secondFactorAbove: p.bigint('number').check('second_factor_above >= 0'),
    currency: p.character().length(3),
    updatedAt: p.datetime(3),
  },
});
