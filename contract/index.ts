import { initContract } from '@ts-rest/core';
import { apiKeyProblems, apiKeys } from './api-keys.ts';
import { applicationProblems, applications } from './applications.ts';
import { auditEvents } from './audit-events.ts';
import { connectedApps } from './connected-apps.ts';
import { deliveryMethods } from './delivery-methods.ts';
import { events } from './events.ts';
import { orderExports } from './order-exports.ts';
import { orderImports } from './order-imports.ts';
import { orderProblems, orders } from './orders.ts';
import { ordersV2 } from './orders-v2.ts';
import { paymentProblems, payments } from './payments.ts';
import { productCategories } from './product-categories.ts';
import { productImports } from './product-imports.ts';
import { productProblems, products } from './products.ts';
import { commonProblems } from './problems.ts';
import { providerEventProblems, providerEvents } from './provider-events.ts';
import { refundProblems, refunds } from './refunds.ts';
import { shipmentProblems, shipments } from './shipments.ts';
import { signingKeys } from './signing-keys.ts';
import { taskProblems, tasks } from './tasks.ts';
import { usage } from './usage.ts';
import { userProblems, users } from './users.ts';
import { versions } from './versions.ts';
import { webhookProblems, webhooks } from './webhooks.ts';

const c = initContract();
const inVersion = (version: `v${number}`) => ({ pathPrefix: `/api/${version}`, strictStatusCodes: true }) as const;

/** Every resource that versions have in common. */
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

/** The current version of the API, and the list of all versions. */
export const contract = { versions: c.router(versions, { strictStatusCodes: true }), ...c.router(resources, inVersion('v1')) };

/** Version 2, a preview: what changes is written anew, the rest is version 1's. */
export const contractV2 = c.router({ ...resources, orders: ordersV2 }, inVersion('v2'));

/** Every way a request can fail: its code, HTTP status and title. */
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

export { apiKeyCreate, apiKeyDaysMax, apiKeysMax, type ApiKey, type ApiKeyCreate, type NewApiKey } from './api-keys.ts';
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
} from './applications.ts';
export { auditActions, type AuditAction, type AuditEvent } from './audit-events.ts';
export type { ConnectedApp } from './connected-apps.ts';
export { currencyExponent, decimalAmount } from './currencies.ts';
export type { DeliveryMethod, DeliveryMethodReplace } from './delivery-methods.ts';
export { eventDays, eventSubjects, eventTypes, eventWildcards } from './events.ts';
export type { Event, EventPage, EventSubject, EventType, EventWildcard } from './events.ts';
export { importOrderRowsMax, importRowMax, slowestUpload, uploadLimits } from './imports.ts';
export { priceMax } from './money.ts';
export { deliveryInput, orderLinesMax, ordersWithItemsMax, quantityMax } from './orders.ts';
export { cancelReasons, fulfillmentStatuses, orderStatuses, paymentStatuses, taxModes } from './orders.ts';
export { exportColumns, type OrderExportColumn, type OrderExportCreate } from './order-exports.ts';
export type { LineQuantity } from './line-quantity.ts';
export type { Order, OrderCancellation, OrderCreate, OrderSummary, OrderUpdate } from './orders.ts';
export type { OrderCreateV2, OrderSummaryV2, OrderUpdateV2, OrderV2 } from './orders-v2.ts';
export { paymentFailureCodes, paymentProviderNames, paymentSteps, testMethodTokens, type Payment, type PaymentCreate } from './payments.ts';
export { totalCountMax } from './pages.ts';
export { problemCodesOf, transportProblems, type ProblemDeclaration } from './problems.ts';
export type { ProductCategory } from './product-categories.ts';
export { productCreate, productUpdate } from './products.ts';
export { productStatuses, stockAdjustmentReasons, stockMax } from './products.ts';
export type { Product, ProductCreate, ProductReplace, ProductUpdate, StockAdjustment, StockAdjustmentCreate } from './products.ts';
export { refundReasons, refundStatuses, type Refund, type RefundCreate } from './refunds.ts';
export { type Deprecation, metadataOf, routesOf, type RouteMetadata, usualBodyMax } from './routes.ts';
export { administratorScopes, rolesFor, scopeNames, scopes, type Scope } from './scopes.ts';
export { fileFormats, fileMediaTypes, tasksAtOnceMax, taskStatuses, taskTypes } from './tasks.ts';
export type { ImportCounts, Task, TaskResult, TaskType } from './tasks.ts';
export type { Usage } from './usage.ts';
export { shipmentStatuses, type Shipment, type ShipmentCreate, type ShipmentUpdate } from './shipments.ts';
export type { SigningKeyRotation } from './signing-keys.ts';
export { characterFault, instantInput, line, metadataPairsMax } from './text.ts';
export { email, userCreate, userRoles, userStatuses, type User, type UserCreate, type UserUpdate } from './users.ts';
export { type ApiVersion, type ApiVersionAnswer, apiVersions, currentApiVersion } from './versions.ts';
export {
  webhookDeliveryStatuses,
  webhookDisabledReasons,
  webhookEndpointsMax,
  webhookFailingDaysMax,
  webhookTriesMax,
} from './webhooks.ts';
export type { NewWebhookEndpoint, WebhookDelivery, WebhookDeliveryStatus, WebhookEndpoint } from './webhooks.ts';
export type { WebhookEndpointCreate, WebhookEndpointUpdate, WebhookSecretRotation } from './webhooks.ts';
