import { initContract } from '@ts-rest/core';
import { approvalProblemTypes, approvalRoutes } from './resources/orders/approvals.ts';
import { apiKeyProblemTypes, apiKeyRoutes } from './resources/access/api-keys.ts';
import { applicationProblemTypes, applicationRoutes } from './resources/access/applications.ts';
import { currentAuthorizationRoute } from './resources/access/current-authorization.ts';
import { auditEventRoutes } from './resources/access/audit-events.ts';
import { backupProblemTypes, backupRoutes } from './resources/tasks/backups.ts';
import { brandingRoutes } from './resources/shop/branding.ts';
import { connectedAppRoutes } from './resources/access/connected-apps.ts';
import { deliveryMethodRoutes } from './resources/orders/delivery-methods.ts';
import { eventRoutes } from './resources/events/events.ts';
import { identityProviderRoutes } from './resources/access/identity-providers.ts';
import { orderLimitSettingsRoutes } from './resources/shop/order-limit-settings.ts';
import { orderExportRoutes } from './resources/tasks/order-exports.ts';
import { orderImportRoutes } from './resources/tasks/order-imports.ts';
import { orderProblemTypes, orderRoutes } from './resources/orders/orders.ts';
import { orderRoutesV2 } from './resources/orders/orders-v2.ts';
import { paymentProblemTypes, paymentRoutes } from './resources/orders/payments.ts';
import { productCategoryRoutes } from './resources/products/product-categories.ts';
import { productImportRoutes } from './resources/tasks/product-imports.ts';
import { productProblemTypes, productRoutes } from './resources/products/products.ts';
import { commonProblemTypes } from './protocol/problems.ts';
import { paymentProviderWebhookProblemTypes, paymentProviderWebhookRoute } from './resources/orders/payment-provider-webhook.ts';
import { quoteRoutes } from './resources/orders/quotes.ts';
import { refundProblemTypes, refundRoutes } from './resources/orders/refunds.ts';
import { userSessionListRoute } from './resources/access/sessions.ts';
import { shipmentProblemTypes, shipmentRoutes } from './resources/orders/shipments.ts';
import { signingKeyRotationRoute } from './resources/access/signing-key-rotation.ts';
import { statisticsRoutes } from './resources/statistics/statistics.ts';
import { taskProblemTypes, taskRoutes } from './resources/tasks/tasks.ts';
import { usageRoutes } from './resources/access/usage.ts';
import { userExportRoutes } from './resources/tasks/user-exports.ts';
import { userImportRoutes } from './resources/tasks/user-imports.ts';
import { userProblemTypes, userRoutes } from './resources/access/users.ts';
import { apiVersionRoutes } from './protocol/api-versions.ts';
import { webhookProblemTypes } from './resources/events/webhook-limits-states-and-problems.ts';
import { webhookRoutes } from './resources/events/webhooks.ts';

const c = initContract();
const versionOptions = (version: `v${number}`) => ({ pathPrefix: `/api/${version}`, strictStatusCodes: true }) as const;

/** Resources of version 1. Version 2 replaces `orders`. */
const resources = {
  users: userRoutes,
  products: productRoutes,
  productCategories: productCategoryRoutes,
  deliveryMethods: deliveryMethodRoutes,
  orders: orderRoutes,
  quotes: quoteRoutes,
  approvals: approvalRoutes,
  payments: paymentRoutes,
  providerEvents: paymentProviderWebhookRoute,
  refunds: refundRoutes,
  shipments: shipmentRoutes,
  orderExports: orderExportRoutes,
  orderImports: orderImportRoutes,
  productImports: productImportRoutes,
  userExports: userExportRoutes,
  userImports: userImportRoutes,
  backups: backupRoutes,
  tasks: taskRoutes,
  events: eventRoutes,
  webhooks: webhookRoutes,
  authorization: currentAuthorizationRoute,
  connectedApps: connectedAppRoutes,
  sessions: userSessionListRoute,
  apiKeys: apiKeyRoutes,
  applications: applicationRoutes,
  auditEvents: auditEventRoutes,
  usage: usageRoutes,
  stats: statisticsRoutes,
  signingKeys: signingKeyRotationRoute,
  branding: brandingRoutes,
  orderLimitSettings: orderLimitSettingsRoutes,
  identityProviders: identityProviderRoutes,
};

/** Contract of API version 1, the current version, with the operation that lists the versions. */
export const contract = { versions: c.router(apiVersionRoutes, { strictStatusCodes: true }), ...c.router(resources, versionOptions('v1')) };

/** Contract of version 2, a preview. Unchanged resources are taken from version 1. */
export const contractV2 = c.router({ ...resources, orders: orderRoutesV2 }, versionOptions('v2'));

/** All API problem codes, with HTTP status and title. */
export const problemDeclarations = {
  ...commonProblemTypes,
  ...userProblemTypes,
  ...productProblemTypes,
  ...orderProblemTypes,
  ...taskProblemTypes,
  ...backupProblemTypes,
  ...paymentProblemTypes,
  ...paymentProviderWebhookProblemTypes,
  ...refundProblemTypes,
  ...shipmentProblemTypes,
  ...approvalProblemTypes,
  ...apiKeyProblemTypes,
  ...applicationProblemTypes,
  ...webhookProblemTypes,
};

export type ProblemCode = keyof typeof problemDeclarations;

export {
  apiKeyCreateRequestSchema,
  isApiKeyScope,
  maxApiKeyLifetimeDays,
  maxApiKeysPerUser,
  type ApiKey,
  type ApiKeyCreate,
  type ApiKeyWithSecret,
} from './resources/access/api-keys.ts';
export {
  approvalReasons,
  approvalStatuses,
  maxApprovalWaitSeconds,
  maxApprovalRequestsPerGrantIn24Hours,
  maxPendingApprovalsPerGrant,
  type Approval,
  type ApprovalCreate,
  type ApprovalReason,
  type ApprovalStatus,
  type ApprovalSummary,
} from './resources/orders/approvals.ts';
export {
  applicationCreateSchema,
  applicationGrantTypes,
  maxRefreshGraceSeconds,
  applicationRegistrationMethods,
  maxConfigurableRequestLimit,
  type Application,
  type ApplicationCreate,
  type ApplicationUpdate,
  type ApplicationWithSecret,
  type RegistrationToken,
  type SecretRotation,
} from './resources/access/applications.ts';
export {
  certificateAuthenticationMethods,
  certificateSubjectTypes,
  clientAuthenticationMethods,
  maxPublicKeysInApplicationJwks,
  securityProfiles,
  idTokenSigningAlgorithms,
  type PublicJsonWebKey,
} from './resources/access/application-authentication.ts';
export { applicationLinkSchemas } from './resources/access/application-logo-and-links.ts';
export type { Authorization, Budget } from './resources/access/current-authorization.ts';
export { auditActions, type AuditAction, type AuditEvent } from './resources/access/audit-events.ts';
export { brandingUpdateSchema, type Branding, type BrandingUpdate } from './resources/shop/branding.ts';
export { logoLimits, logoMediaTypes, type Logo } from './schema/logo-schemas.ts';
export {
  identityProviderAudiences,
  identityProviderAuthenticationMethods,
  identityProviderPresetNames,
  type IdentityProvider,
  type IdentityProviderCreate,
  type IdentityProviderUpdate,
} from './resources/access/identity-providers.ts';
export type { ConnectedApp, ConnectedAppLimits, ConnectedAppOfUser } from './resources/access/connected-apps.ts';
export type { Session } from './resources/access/sessions.ts';
export { currencyExponent, formatDecimalAmount } from './schema/currency-exponent-and-decimal-amount.ts';
export type { OrderLimitSettings, OrderLimitSettingsUpdate } from './resources/shop/order-limit-settings.ts';
export type { DeliveryMethod, DeliveryMethodReplace } from './resources/orders/delivery-methods.ts';
export { eventRetentionDays, eventSubjectDefinitions, eventTypes, eventTypeWildcards } from './resources/events/events.ts';
export type { Event, EventPage, EventSubject, EventType, EventTypeWildcard } from './resources/events/events.ts';
export { maxImportRowsPerOrder, maxImportRowBytes, minUploadRate, importFileLimitsText } from './resources/tasks/import-parameters.ts';
export { parseValidationIssueWithValues } from './schema/validation-issue-with-values.ts';
export { maxPrice } from './schema/amount-price-and-currency-schemas.ts';
export { maxOrderLines, maxLineQuantity, type OrderCreate, type OrderInput } from './resources/orders/order-create-schema.ts';
export { orderDeliveryInputSchema } from './resources/orders/order-delivery-schemas.ts';
export { maxOrderSearchMatches, maxOrdersWithItems } from './resources/orders/order-list-include-and-search-parameters.ts';
export { orderCancelReasons, orderFulfillmentStatuses, orderStatuses, orderPaymentStatuses, taxModes } from './resources/orders/orders.ts';
export {
  budgetPeriods,
  orderAccessLevels,
  orderActionsInAuthorizationDetails,
  orderApprovalModes,
  orderAuthorizationDetailsInputSchema,
  orderAuthorizationDetailsType,
  parsedOrderLimitsFormSchema,
  type ApiKeyLimits,
  type BudgetPeriod,
  type EffectiveOrderLimits,
  type OrderAccessLevel,
  type OrderAction,
  type OrderApprovalMode,
  type OrderAuthorizationDetails,
  type OrderLimitsInput,
  type OrderSpendingLimits,
} from './protocol/order-limit-and-authorization-details-schemas.ts';
export { maxLimitedCategories, type OrderProductLimits } from './protocol/order-product-limits.ts';
export { orderExportColumns, type OrderExportColumn, type OrderExportCreate } from './resources/tasks/order-exports.ts';
export type { LineQuantity } from './resources/orders/order-line-and-quantity.ts';
export type { Order, OrderCancellation, OrderSummary, OrderUpdate } from './resources/orders/orders.ts';
export type { OrderCreateV2, OrderSummaryV2, OrderUpdateV2, OrderV2 } from './resources/orders/orders-v2.ts';
export {
  paymentFailureCodes,
  paymentProviderNames,
  paymentStatuses,
  testPaymentOutcomeTextsByToken,
  type Payment,
  type PaymentCreate,
} from './resources/orders/payments.ts';
export { maxCountedTotal } from './schema/pagination.ts';
export { problemCodesOfResponse, problemCodesBeforeRouting, type ErrorResponse, type ProblemDeclaration } from './protocol/problems.ts';
export type { ProductCategory } from './resources/products/product-categories.ts';
export { productCreateSchema, productUpdateSchema } from './resources/products/products.ts';
export { productStatuses } from './resources/products/products.ts';
export { stockAdjustmentReasons, maxStock } from './resources/products/stock-adjustment-schemas.ts';
export type { StockAdjustment, StockAdjustmentCreate } from './resources/products/stock-adjustment-schemas.ts';
export type { Product, ProductCreate, ProductReplace, ProductUpdate } from './resources/products/products.ts';
export {
  defaultStockReservingQuoteSeconds,
  defaultQuoteSeconds,
  maxQuoteHoldSeconds,
  maxQuoteSeconds,
  quoteStatuses,
  type Quote,
  type QuoteCreate,
  type QuoteLimits,
  type QuoteStatus,
  type QuoteSummary,
} from './resources/orders/quotes.ts';
export { refundReasons, refundStatuses, type Refund, type RefundCreate } from './resources/orders/refunds.ts';
export { type Deprecation, getRouteMetadata, listRoutes, type RouteMetadata, defaultMaxBodyBytes } from './protocol/route-metadata.ts';
export {
  administratorOnlyScopes,
  firstPartyOnlyScopes,
  getRolesAllowedForScope,
  scopeNames,
  scopeDefinitions,
  type Scope,
} from './protocol/scopes.ts';
export { backupCheckResults, type Backup } from './resources/tasks/backups.ts';
export { userExportColumns, userExportCreateSchema, type UserExportCreate } from './resources/tasks/user-exports.ts';
export { fileFormats, fileMediaTypes, maxUnfinishedTasksPerOwner, taskSchema, taskStatuses, taskTypes } from './resources/tasks/tasks.ts';
export type { FileResponse, ImportCounts, Task, TaskResult, TaskType } from './resources/tasks/tasks.ts';
export type { Usage } from './resources/access/usage.ts';
export { shipmentStatuses, type Shipment, type ShipmentCreate, type ShipmentUpdate } from './resources/orders/shipments.ts';
export {
  maxStatisticsDaysByInterval,
  type ApplicationStatistics,
  type OrderStatistics,
  type ProductStatistics,
} from './resources/statistics/statistics.ts';
export type { SigningKeyRotation } from './resources/access/signing-key-rotation.ts';
export { findHiddenCharacterCodePoint } from './schema/hidden-characters.ts';
export {
  forbiddenCharacterMessageFromError,
  timestampInputSchema,
  metadataSchema,
  nameFromOtherSystemSchema,
  singleLineInputSchema,
  lengthLimitedTextSchema,
  maxMetadataPairs,
} from './schema/text-timestamp-and-metadata-schemas.ts';
export {
  emailSchema,
  userCreateSchema,
  userRoles,
  userStatuses,
  type User,
  type UserCreate,
  type UserUpdate,
} from './resources/access/users.ts';
export { type ApiVersion, type ApiVersionResponse, apiVersions, currentApiVersion } from './protocol/api-versions.ts';
export {
  webhookDeliveryStatuses,
  webhookDisabledReasons,
  maxWebhookEndpoints,
  maxWebhookFailingDays,
  maxWebhookAttempts,
  maxStoredWebhookResponseBytes,
} from './resources/events/webhook-limits-states-and-problems.ts';
export type { WebhookEndpointWithSecret, WebhookEndpoint } from './resources/events/webhooks.ts';
export type {
  WebhookDelivery,
  WebhookDeliveryDetails,
  WebhookDeliveryStatus,
  WebhookExchange,
} from './resources/events/webhook-delivery-schemas.ts';
export type { WebhookEndpointCreate, WebhookEndpointUpdate, WebhookSecretRotation } from './resources/events/webhooks.ts';
