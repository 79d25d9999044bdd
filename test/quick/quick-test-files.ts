import type { contract } from '@mandate/contract';

/** The test file that `npm run test:quick` runs for each resource in the contract, relative to `test/api`. */
export const resourceTestFiles: Readonly<Record<keyof typeof contract, string>> = {
  versions: 'requests/versions.test.ts',
  users: 'users/users.test.ts',
  products: 'products/products.test.ts',
  productCategories: 'products/categories.test.ts',
  deliveryMethods: 'delivery-methods/list.test.ts',
  orders: 'orders/create.test.ts',
  approvals: 'approvals/approvals.test.ts',
  quotes: 'quotes/quotes.test.ts',
  payments: 'payments/payments.test.ts',
  providerEvents: 'payments/provider-events.test.ts',
  refunds: 'refunds/refunds.test.ts',
  shipments: 'shipments/shipments.test.ts',
  orderExports: 'order-exports/create.test.ts',
  orderImports: 'order-imports/create.test.ts',
  productImports: 'product-imports/ndjson-cells.test.ts',
  userExports: 'user-exports/create.test.ts',
  userImports: 'user-imports/create.test.ts',
  backups: 'backups/backups.test.ts',
  tasks: 'tasks/read.test.ts',
  events: 'events/list.test.ts',
  webhooks: 'webhooks/endpoints.test.ts',
  authorization: 'authorization/get.test.ts',
  connectedApps: 'connected-apps/connected-apps.test.ts',
  sessions: 'sessions/list-of-user.test.ts',
  apiKeys: 'api-keys/api-keys.test.ts',
  applications: 'applications/applications.test.ts',
  auditEvents: 'audit-events/audit-events.test.ts',
  usage: 'usage/get.test.ts',
  stats: 'statistics/statistics.test.ts',
  signingKeys: 'signing-keys/rotate.test.ts',
  branding: 'branding/branding.test.ts',
  orderLimitSettings: 'authorization/order-limit-settings.test.ts',
  identityProviders: 'identity-providers/identity-providers.test.ts',
};

/** All test files that `npm run test:quick` runs. The authorization matrix calls every operation as every kind of caller. */
export const quickTestFiles = ['authorization-matrix.test.ts', ...Object.values(resourceTestFiles)].map((file) => `test/api/${file}`);
