import { defineEntity, p, type InferEntity } from '@mikro-orm/core';
import { budgetPeriods, orderApprovalModes, type OrderAction } from '@mandate/contract';

/**
 * Limits that a user set for the orders of one grant. A grant without a row is limited only by its scopes and by the limits that
 * administrators set. The SQL functions created by migration 20261124190000_order_categories combine these limits.
 */
export const OrderLimits = defineEntity({
  name: 'OrderLimits',
  tableName: 'order_limits',
  properties: {
    grantId: p.text().primary(),
    /** Permitted actions. */
    actions: p.array<OrderAction>(),
    /** Currency of the amounts; null if the limits have no amounts. */
    currency: p.character().length(3).nullable(),
    perOrder: p.bigint('number').nullable().check('per_order >= 1'),
    perPeriod: p.bigint('number').nullable().check('per_period >= 1'),
    period: p.enum(budgetPeriods).nullable(),
    /** Product categories that can be ordered; null for all products. */
    categories: p.array().nullable(),
    /** IANA name of the time zone that determines when a period starts. */
    timeZone: p.text().default('UTC'),
    validUntil: p.datetime(3).nullable(),
    /** Whether the application can access only the orders that it placed. */
    ownOrdersOnly: p.boolean().default(false),
    /**
     * Whether the user can allow the application to access all orders; false if the application requested access only to its own orders.
     */
    allOrdersGrantable: p.boolean().default(true),
    /** Specifies which orders need the customer's approval. */
    approval: p.enum(orderApprovalModes).default('above_limit'),
    /** Whether the user set these limits; false if only administrators set limits, and the row exists only so that it can be locked. */
    setByUser: p.boolean().default(true),
    createdAt: p.datetime(3).defaultRaw('now()'),
    updatedAt: p.datetime(3).defaultRaw('now()'),
  },
  checks: [
    { name: 'order_limits_currency', expression: 'currency is not null or (per_order is null and per_period is null)' },
    { name: 'order_limits_period', expression: '(per_period is null) = (period is null)' },
  ],
});
export type OrderLimitsRow = InferEntity<typeof OrderLimits>;

/** An order that counts toward a grant's budget in the period that contains `countedAt`. */
export const BudgetedOrder = defineEntity({
  name: 'BudgetedOrder',
  tableName: 'budgeted_orders',
  properties: {
    grantId: p.text().primary(),
    orderId: p.bigint('number').primary(),
    countedAt: p.datetime(3),
    /** Whether the customer approved the order. An approved order counts only toward the budgets that administrators set. */
    approved: p.boolean().default(false),
  },
  indexes: [
    { name: 'budgeted_orders_grant_counted', properties: ['grantId', 'countedAt'] },
    { name: 'budgeted_orders_counted', properties: ['countedAt'] },
  ],
});
