import { exportOrders } from '../order-exports/export-orders.ts';
import { importOrders } from '../order-imports/import-orders.ts';
import { importProducts } from '../product-imports/import-products.ts';
import { exportUsersOrConsents } from '../user-exports/export-users-or-consents.ts';
import { importUsers } from '../user-imports/import-users.ts';
import type { TaskRunnerDependencies } from '../tasks/run-queued-tasks.ts';

/** The handler for each task type. */
export const taskHandlersByType = {
  order_export: exportOrders,
  order_import: importOrders,
  product_import: importProducts,
  user_export: exportUsersOrConsents,
  user_import: importUsers,
} satisfies TaskRunnerDependencies['handlers'];
