import {
  orderActionsInAuthorizationDetails,
  orderAuthorizationDetailsType,
  type EffectiveOrderLimits,
  type OrderAuthorizationDetails,
} from '@mandate/contract';
import type { OrderLimitsRow } from './order-limits-and-budgeted-order.entity.ts';

type StoredLimits = Pick<OrderLimitsRow, 'actions' | 'ownOrdersOnly' | 'approval'> &
  Partial<Pick<OrderLimitsRow, 'currency' | 'perOrder' | 'perPeriod' | 'period' | 'validUntil' | 'categories'>>;

/** Returns the authorization details (RFC 9396) that describe the limits that a user set. */
export const authorizationDetailsFromOrderLimits = (row: StoredLimits): OrderAuthorizationDetails => ({
  type: orderAuthorizationDetailsType,
  actions: orderActionsInAuthorizationDetails.filter((action) => row.actions.includes(action)),
  ...(row.currency != null && {
    limits: {
      currency: row.currency,
      ...(row.perOrder != null && { per_order: row.perOrder }),
      ...(row.perPeriod != null && row.period != null && { per_period: row.perPeriod, period: row.period }),
    },
  }),
  ...(row.categories != null && { products: { categories: [...row.categories] } }),
  ...(row.validUntil != null && { valid_until: row.validUntil.toISOString() }),
  orders: row.ownOrdersOnly ? 'own' : 'all',
  approval: row.approval,
});

/** Returns the column values that store the limits. */
export const orderLimitsColumnsFromInput = ({
  actions,
  limits,
  products,
  valid_until: validUntil,
  orders,
  approval,
}: EffectiveOrderLimits) => ({
  actions: [...actions],
  currency: limits?.currency ?? null,
  perOrder: limits?.per_order ?? null,
  perPeriod: limits?.per_period ?? null,
  period: limits?.period ?? null,
  categories: products ? [...products.categories] : null,
  validUntil: validUntil === undefined ? null : new Date(validUntil),
  ownOrdersOnly: orders === 'own',
  approval,
});
