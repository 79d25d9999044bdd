import { apiKeyRoutes } from '../access-management/api-key-routes.ts';
import { applicationRoutes } from '../access-management/application-routes.ts';
import { auditEventRoutes } from '../audit/routes.ts';
import { type ConnectedAppDependencies, connectedAppRoutes } from '../access-management/connected-app-routes.ts';
import { deliveryMethodRoutes } from '../delivery-methods/routes.ts';
import { eventRoutes } from '../events/routes.ts';
import type { EventHandlerDependencies } from '../events/long-poll.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import { orderExportRoutes } from '../order-exports/routes.ts';
import { orderImportRoutes } from '../order-imports/routes.ts';
import { orderRoutes } from '../order-lifecycle/order-routes.ts';
import { paymentRoutes } from '../order-lifecycle/payment-routes.ts';
import { providerEventRoutes } from '../order-lifecycle/provider-event-routes.ts';
import type { PaymentHandlerDependencies } from '../payments/providers/payment-provider.ts';
import { productImportRoutes } from '../product-imports/routes.ts';
import { productCategoryRoutes } from '../products/category-routes.ts';
import { productRoutes } from '../products/routes.ts';
import { refundRoutes } from '../refunds/routes.ts';
import { shipmentRoutes } from '../shipments/routes.ts';
import { signingKeyRoutes } from '../access-management/signing-key-routes.ts';
import { taskRoutes } from '../tasks/routes.ts';
import { usageRoutes } from '../usage/routes.ts';
import { userRoutes } from '../users/routes.ts';
import { type VersionDependencies, versionRoutes } from '../versions/routes.ts';
import type { WebhookDependencies } from '../webhooks/endpoints/create-endpoint.ts';
import { webhookRoutes } from '../webhooks/routes.ts';

/** Returns the route handlers for every resource. The contract lists the same resources; entities.ts lists the tables. */
export const createApiRoutes = (
  deps: HandlerDependencies &
    PaymentHandlerDependencies &
    EventHandlerDependencies &
    VersionDependencies &
    WebhookDependencies &
    ConnectedAppDependencies,
) => ({
  versions: versionRoutes(deps),
  users: userRoutes(deps),
  products: productRoutes(deps),
  productCategories: productCategoryRoutes(deps),
  deliveryMethods: deliveryMethodRoutes(deps),
  orders: orderRoutes(deps),
  payments: paymentRoutes(deps),
  providerEvents: providerEventRoutes(deps),
  refunds: refundRoutes(deps),
  shipments: shipmentRoutes(deps),
  orderExports: orderExportRoutes(deps),
  orderImports: orderImportRoutes(deps),
  productImports: productImportRoutes(deps),
  tasks: taskRoutes(deps),
  events: eventRoutes(deps),
  webhooks: webhookRoutes(deps),
  connectedApps: connectedAppRoutes(deps),
  apiKeys: apiKeyRoutes(deps),
  applications: applicationRoutes(deps),
  auditEvents: auditEventRoutes(deps),
  usage: usageRoutes(deps),
  signingKeys: signingKeyRoutes(deps),
});
