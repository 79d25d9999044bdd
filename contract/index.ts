import { initContract } from '@ts-rest/core';
import { apiKeyProblems, apiKeys } from './resources/access/api-keys.ts';
import { applicationProblems, applications } from './resources/access/applications.ts';
import { auditEvents } from './resources/access/audit-events.ts';
import { connectedApps } from './resources/access/connected-apps.ts';
import { deliveryMethods } from './resources/orders/delivery-methods.ts';
import { events } from './resources/events/events.ts';
import { orderExports } from './resources/tasks/order-exports.ts';
import { orderImports } from './resources/tasks/order-imports.ts';
import { orderProblems, orders } from './resources/orders/orders.ts';
import { ordersV2 } from './resources/orders/orders-v2.ts';
import { paymentProblems, payments } from './resources/orders/payments.ts';
import { productCategories } from './resources/products/product-categories.ts';
import { productImports } from './resources/tasks/product-imports.ts';
import { productProblems, products } from './resources/products/products.ts';
import { commonProblems } from './protocol/problems.ts';
import { providerEventProblems, providerEvents } from './resources/orders/provider-events.ts';
import { refundProblems, refunds } from './resources/orders/refunds.ts';
import { shipmentProblems, shipments } from './resources/orders/shipments.ts';
import { signingKeys } from './resources/access/signing-keys.ts';
import { taskProblems, tasks } from './resources/tasks/tasks.ts';
import { usage } from './resources/access/usage.ts';
import { userProblems, users } from './resources/access/users.ts';
import { versions } from './protocol/versions.ts';
import { webhookProblems, webhooks } from './resources/events/webhooks.ts';

const c = initContract();
const versionOptions = (version: `v${number}`) => ({ pathPrefix: `/api/${version}`, strictStatusCodes: true }) as const;

/** Resources that are the same in every version. */
const resources = {
  users,
  products,
  productCategories,
  deliveryMethods,
  orders,
  payments,
  providerEvents,
  refunds,
  shipments,
  orderExports,
  orderImports,
  productImports,
  tasks,
  events,
  webhooks,
  connectedApps,
  apiKeys,
  applications,
  auditEvents,
  usage,
  signingKeys,
};

/** Contract of version 1, the current version of the API, and of the list of versions. */
export const contract = { versions: c.router(versions, { strictStatusCodes: true }), ...c.router(resources, versionOptions('v1')) };

/** Contract of version 2, a preview. Resources that do not differ are taken from version 1. */
export const contractV2 = c.router({ ...resources, orders: ordersV2 }, versionOptions('v2'));

/** All problem codes of the API, with HTTP status and title. */
export const problems = {
  ...commonProblems,
  ...userProblems,
  ...productProblems,
  ...orderProblems,
  ...taskProblems,
  ...paymentProblems,
  ...providerEventProblems,
  ...refundProblems,
  ...shipmentProblems,
  ...apiKeyProblems,
  ...applicationProblems,
  ...webhookProblems,
};

export type ProblemCode = keyof typeof problems;

export { apiKeyCreate, apiKeyDaysMax, apiKeysMax, type ApiKey, type ApiKeyCreate, type NewApiKey } from './resources/access/api-keys.ts';
export {
  applicationCreate,
  applicationGrantTypes,
  refreshGraceSecondsMax,
  applicationRegistrations,
  requestsMax,
  type Application,
  type ApplicationCreate,
  type ApplicationUpdate,
  type NewApplication,
  type RegistrationToken,
  type SecretRotation,
} from './resources/access/applications.ts';
export { auditActions, type AuditAction, type AuditEvent } from './resources/access/audit-events.ts';
export type { ConnectedApp } from './resources/access/connected-apps.ts';
export { currencyExponent, decimalAmount } from './schema/currencies.ts';
export type { DeliveryMethod, DeliveryMethodReplace } from './resources/orders/delivery-methods.ts';
export { eventDays, eventSubjects, eventTypes, eventWildcards } from './resources/events/events.ts';
export type { Event, EventPage, EventSubject, EventType, EventWildcard } from './resources/events/events.ts';
export { importOrderRowsMax, importRowMax, slowestUpload, uploadLimits } from './resources/tasks/imports.ts';
export { priceMax } from './schema/money.ts';
export { deliveryInput, orderLinesMax, ordersWithItemsMax, quantityMax } from './resources/orders/orders.ts';
export { cancelReasons, fulfillmentStatuses, orderStatuses, paymentStatuses, taxModes } from './resources/orders/orders.ts';
export { exportColumns, type OrderExportColumn, type OrderExportCreate } from './resources/tasks/order-exports.ts';
export type { LineQuantity } from './resources/orders/line-quantity.ts';
export type { Order, OrderCancellation, OrderCreate, OrderSummary, OrderUpdate } from './resources/orders/orders.ts';
export type { OrderCreateV2, OrderSummaryV2, OrderUpdateV2, OrderV2 } from './resources/orders/orders-v2.ts';
export {
  paymentFailureCodes,
  paymentProviderNames,
  paymentSteps,
  testMethodTokens,
  type Payment,
  type PaymentCreate,
} from './resources/orders/payments.ts';
export { totalCountMax } from './schema/pagination.ts';
export { problemCodesOf, transportProblems, type ProblemDeclaration } from './protocol/problems.ts';
export type { ProductCategory } from './resources/products/product-categories.ts';
export { productCreate, productUpdate } from './resources/products/products.ts';
export { productStatuses, stockAdjustmentReasons, stockMax } from './resources/products/products.ts';
export type {
  Product,
  ProductCreate,
  ProductReplace,
  ProductUpdate,
  StockAdjustment,
  StockAdjustmentCreate,
} from './resources/products/products.ts';
export { refundReasons, refundStatuses, type Refund, type RefundCreate } from './resources/orders/refunds.ts';
export { type Deprecation, metadataOf, routesOf, type RouteMetadata, usualBodyMax } from './protocol/route-metadata.ts';
export { administratorScopes, rolesFor, scopeNames, scopes, type Scope } from './protocol/scopes.ts';
export { fileFormats, fileMediaTypes, tasksAtOnceMax, taskStatuses, taskTypes } from './resources/tasks/tasks.ts';
export type { ImportCounts, Task, TaskResult, TaskType } from './resources/tasks/tasks.ts';
export type { Usage } from './resources/access/usage.ts';
export { shipmentStatuses, type Shipment, type ShipmentCreate, type ShipmentUpdate } from './resources/orders/shipments.ts';
export type { SigningKeyRotation } from './resources/access/signing-keys.ts';
export { characterFault, instantInput, line, metadataPairsMax } from './schema/text.ts';
export { email, userCreate, userRoles, userStatuses, type User, type UserCreate, type UserUpdate } from './resources/access/users.ts';
export { type ApiVersion, type ApiVersionAnswer, apiVersions, currentApiVersion } from './protocol/versions.ts';
export {
  webhookDeliveryStatuses,
  webhookDisabledReasons,
  webhookEndpointsMax,
  webhookFailingDaysMax,
  webhookTriesMax,
} from './resources/events/webhooks.ts';
export type { NewWebhookEndpoint, WebhookDelivery, WebhookDeliveryStatus, WebhookEndpoint } from './resources/events/webhooks.ts';
export type { WebhookEndpointCreate, WebhookEndpointUpdate, WebhookSecretRotation } from './resources/events/webhooks.ts';
