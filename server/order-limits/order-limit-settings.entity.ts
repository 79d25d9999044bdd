import { defineEntity, p } from '@mikro-orm/core';
import type { OrderSpendingLimits } from '@mandate/contract';

/**
 * The shop's limits for third-party applications. The table has at most one row. If the table has no row, there is neither a maximum nor a
 * default.
 */
export const OrderLimitSettingsEntity = defineEntity({
  name: 'OrderLimitSettingsEntity',
  tableName: 'order_limit_settings',
  properties: {
    id: p.integer().primary().autoincrement(false).check('id = 1'),
    /** Highest limits that users can set for a third-party application. */
    maximumLimits: p.json<OrderSpendingLimits>().nullable(),
    /** Limits that the consent page proposes if a third-party application requests no limits. */
    defaultLimits: p.json<OrderSpendingLimits>().nullable(),
    /** Product categories from which users can allow a third-party application to order; null for all products. */
    maximumCategories: p.array().nullable(),
    /** Categories that the consent page proposes if a third-party application requests no limits; null for all products. */
    defaultCategories: p.array().nullable(),
    version: p.integer().version(),
  },
});
