// Written by codegen/generate.ts from the OpenAPI document of the contract. Do not edit.

import type { CallOptions, DryRun, IfMatch, IfNoneMatch } from '../core/call.ts';
import type { InfiniteQueryOf, MutationOf, QueryOf } from '../query/query-types.ts';
import type { ApiKeyCreate, ApiKeyPage, ApiKeysListQuery, ApiVersionList, Application, ApplicationCreate, ApplicationPage, ApplicationUpdate, ApplicationsListQuery, AuditEventPage, AuditEventsListQuery, ConnectedAppPage, ConnectedAppsListQuery, ConnectedAppsRemoveQuery, DeliveryMethod, DeliveryMethodList, DeliveryMethodReplace, DeliveryMethodsListQuery, Event, EventPage, EventsListQuery, NewApiKey, NewApplication, NewWebhookEndpoint, Order, OrderCancellation, OrderCreate, OrderExportCreate, OrderImportsCreateQuery, OrderPage, OrderUpdate, OrdersListQuery, Payment, PaymentCreate, PaymentPage, PaymentsListAllQuery, PaymentsListQuery, Product, ProductCategoriesListQuery, ProductCategoryPage, ProductCreate, ProductImportsCreateQuery, ProductPage, ProductReplace, ProductUpdate, ProductsListQuery, ProductsListStockAdjustmentsQuery, Redelivery, RedeliveryCreate, Refund, RefundCreate, RefundPage, RefundsListAllQuery, RefundsListQuery, RegistrationToken, RegistrationTokenCreate, SecretRotation, SecretRotationCreate, Shipment, ShipmentCreate, ShipmentPage, ShipmentUpdate, ShipmentsListAllQuery, ShipmentsListQuery, SigningKeyRotation, SigningKeyRotationCreate, StockAdjustment, StockAdjustmentCreate, StockAdjustmentPage, Task, TaskPage, TasksListQuery, TestEvent, Usage, User, UserCreate, UserPage, UserUpdate, UsersListQuery, VersionsListQuery, WebhookDeliveryPage, WebhookEndpoint, WebhookEndpointCreate, WebhookEndpointPage, WebhookEndpointUpdate, WebhookSecretRotation, WebhookSecretRotationCreate, WebhooksDeliveriesQuery, WebhooksListQuery } from './resources.gen.ts';
import type { FileContent, UploadOptions } from '../core/upload.ts';

export interface Queries {
  readonly versions: {
    list(query?: VersionsListQuery): QueryOf<ApiVersionList>;
  };
  readonly users: {
    me(): QueryOf<User>;
    get(userId: number | string): QueryOf<User>;
    list(query?: UsersListQuery): QueryOf<UserPage>;
  };
  readonly products: {
    list(query?: ProductsListQuery): QueryOf<ProductPage>;
    get(productId: number | string): QueryOf<Product>;
    listStockAdjustments(productId: number | string, query?: ProductsListStockAdjustmentsQuery): QueryOf<StockAdjustmentPage>;
  };
  readonly productCategories: {
    list(query?: ProductCategoriesListQuery): QueryOf<ProductCategoryPage>;
  };
  readonly deliveryMethods: {
    list(query?: DeliveryMethodsListQuery): QueryOf<DeliveryMethodList>;
    get(code: number | string): QueryOf<DeliveryMethod>;
  };
  readonly orders: {
    list(query?: OrdersListQuery): QueryOf<OrderPage>;
    get(orderId: number | string): QueryOf<Order>;
  };
  readonly payments: {
    list(orderId: number | string, query?: PaymentsListQuery): QueryOf<PaymentPage>;
    listAll(query?: PaymentsListAllQuery): QueryOf<PaymentPage>;
    get(paymentId: number | string): QueryOf<Payment>;
  };
  readonly refunds: {
    list(orderId: number | string, query?: RefundsListQuery): QueryOf<RefundPage>;
    listAll(query?: RefundsListAllQuery): QueryOf<RefundPage>;
    get(refundId: number | string): QueryOf<Refund>;
  };
  readonly shipments: {
    list(orderId: number | string, query?: ShipmentsListQuery): QueryOf<ShipmentPage>;
    listAll(query?: ShipmentsListAllQuery): QueryOf<ShipmentPage>;
    get(shipmentId: number | string): QueryOf<Shipment>;
  };
  readonly tasks: {
    list(query?: TasksListQuery): QueryOf<TaskPage>;
    get(taskId: number | string): QueryOf<Task>;
  };
  readonly events: {
    list(query?: EventsListQuery): QueryOf<EventPage>;
    get(eventId: number | string): QueryOf<Event>;
  };
  readonly webhooks: {
    list(query?: WebhooksListQuery): QueryOf<WebhookEndpointPage>;
    get(webhookEndpointId: number | string): QueryOf<WebhookEndpoint>;
    deliveries(webhookEndpointId: number | string, query?: WebhooksDeliveriesQuery): QueryOf<WebhookDeliveryPage>;
  };
  readonly connectedApps: {
    list(query?: ConnectedAppsListQuery): QueryOf<ConnectedAppPage>;
  };
  readonly apiKeys: {
    list(query?: ApiKeysListQuery): QueryOf<ApiKeyPage>;
  };
  readonly applications: {
    list(query?: ApplicationsListQuery): QueryOf<ApplicationPage>;
    get(applicationId: number | string): QueryOf<Application>;
  };
  readonly auditEvents: {
    list(query?: AuditEventsListQuery): QueryOf<AuditEventPage>;
  };
  readonly usage: {
    get(): QueryOf<Usage>;
  };
}

export interface InfiniteQueries {
  readonly versions: {
    list(query?: VersionsListQuery): InfiniteQueryOf<ApiVersionList>;
  };
  readonly users: {
    list(query?: UsersListQuery): InfiniteQueryOf<UserPage>;
  };
  readonly products: {
    list(query?: ProductsListQuery): InfiniteQueryOf<ProductPage>;
    listStockAdjustments(productId: number | string, query?: ProductsListStockAdjustmentsQuery): InfiniteQueryOf<StockAdjustmentPage>;
  };
  readonly productCategories: {
    list(query?: ProductCategoriesListQuery): InfiniteQueryOf<ProductCategoryPage>;
  };
  readonly deliveryMethods: {
    list(query?: DeliveryMethodsListQuery): InfiniteQueryOf<DeliveryMethodList>;
  };
  readonly orders: {
    list(query?: OrdersListQuery): InfiniteQueryOf<OrderPage>;
  };
  readonly payments: {
    list(orderId: number | string, query?: PaymentsListQuery): InfiniteQueryOf<PaymentPage>;
    listAll(query?: PaymentsListAllQuery): InfiniteQueryOf<PaymentPage>;
  };
  readonly refunds: {
    list(orderId: number | string, query?: RefundsListQuery): InfiniteQueryOf<RefundPage>;
    listAll(query?: RefundsListAllQuery): InfiniteQueryOf<RefundPage>;
  };
  readonly shipments: {
    list(orderId: number | string, query?: ShipmentsListQuery): InfiniteQueryOf<ShipmentPage>;
    listAll(query?: ShipmentsListAllQuery): InfiniteQueryOf<ShipmentPage>;
  };
  readonly tasks: {
    list(query?: TasksListQuery): InfiniteQueryOf<TaskPage>;
  };
  readonly webhooks: {
    list(query?: WebhooksListQuery): InfiniteQueryOf<WebhookEndpointPage>;
    deliveries(webhookEndpointId: number | string, query?: WebhooksDeliveriesQuery): InfiniteQueryOf<WebhookDeliveryPage>;
  };
  readonly connectedApps: {
    list(query?: ConnectedAppsListQuery): InfiniteQueryOf<ConnectedAppPage>;
  };
  readonly apiKeys: {
    list(query?: ApiKeysListQuery): InfiniteQueryOf<ApiKeyPage>;
  };
  readonly applications: {
    list(query?: ApplicationsListQuery): InfiniteQueryOf<ApplicationPage>;
  };
  readonly auditEvents: {
    list(query?: AuditEventsListQuery): InfiniteQueryOf<AuditEventPage>;
  };
}

export interface Mutations {
  readonly users: {
    update(userId: number | string, options?: CallOptions & IfMatch): MutationOf<User, UserUpdate>;
    close(userId: number | string, options?: CallOptions & IfMatch): MutationOf<undefined, void>;
    create(options?: CallOptions): MutationOf<User, UserCreate>;
  };
  readonly products: {
    create(options?: CallOptions): MutationOf<Product, ProductCreate>;
    update(productId: number | string, options?: CallOptions & IfMatch): MutationOf<Product, ProductUpdate>;
    replace(productId: number | string, options?: CallOptions & IfMatch): MutationOf<Product, ProductReplace>;
    delete(productId: number | string, options?: CallOptions & IfMatch): MutationOf<undefined, void>;
    adjustStock(productId: number | string, options?: CallOptions): MutationOf<StockAdjustment, StockAdjustmentCreate>;
  };
  readonly deliveryMethods: {
    replace(code: number | string, options?: CallOptions & IfMatch & IfNoneMatch): MutationOf<DeliveryMethod, DeliveryMethodReplace>;
    delete(code: number | string, options?: CallOptions & IfMatch): MutationOf<undefined, void>;
  };
  readonly orders: {
    create(options?: CallOptions & DryRun): MutationOf<Order, OrderCreate>;
    update(orderId: number | string, options?: CallOptions & IfMatch): MutationOf<Order, OrderUpdate>;
    cancel(orderId: number | string, options?: CallOptions & DryRun): MutationOf<Order, OrderCancellation>;
  };
  readonly payments: {
    create(orderId: number | string, options?: CallOptions): MutationOf<Payment, PaymentCreate>;
    cancel(paymentId: number | string, options?: CallOptions): MutationOf<Payment, void>;
    confirm(paymentId: number | string, options?: CallOptions): MutationOf<Payment, void>;
  };
  readonly refunds: {
    create(orderId: number | string, options?: CallOptions & DryRun): MutationOf<Refund, RefundCreate>;
    confirm(refundId: number | string, options?: CallOptions): MutationOf<Refund, void>;
  };
  readonly shipments: {
    create(orderId: number | string, options?: CallOptions & DryRun): MutationOf<Shipment, ShipmentCreate>;
    update(shipmentId: number | string, options?: CallOptions & IfMatch): MutationOf<Shipment, ShipmentUpdate>;
  };
  readonly orderExports: {
    create(options?: CallOptions): MutationOf<Task, OrderExportCreate>;
  };
  readonly orderImports: {
    create(options?: UploadOptions): MutationOf<Task, { readonly body: FileContent; readonly query: OrderImportsCreateQuery }>;
  };
  readonly productImports: {
    create(options?: UploadOptions): MutationOf<Task, { readonly body: FileContent; readonly query: ProductImportsCreateQuery }>;
  };
  readonly tasks: {
    cancel(taskId: number | string, options?: CallOptions): MutationOf<Task, void>;
  };
  readonly webhooks: {
    create(options?: CallOptions): MutationOf<NewWebhookEndpoint, WebhookEndpointCreate>;
    update(webhookEndpointId: number | string, options?: CallOptions & IfMatch): MutationOf<WebhookEndpoint, WebhookEndpointUpdate>;
    delete(webhookEndpointId: number | string, options?: CallOptions & IfMatch): MutationOf<undefined, void>;
    rotateSecret(webhookEndpointId: number | string, options?: CallOptions): MutationOf<WebhookSecretRotation, WebhookSecretRotationCreate>;
    redeliver(webhookEndpointId: number | string, options?: CallOptions): MutationOf<Redelivery, RedeliveryCreate>;
    test(webhookEndpointId: number | string, options?: CallOptions): MutationOf<TestEvent, void>;
  };
  readonly connectedApps: {
    remove(connectedAppId: number | string, options?: CallOptions): MutationOf<undefined, ConnectedAppsRemoveQuery>;
  };
  readonly apiKeys: {
    create(options?: CallOptions): MutationOf<NewApiKey, ApiKeyCreate>;
    revoke(apiKeyId: number | string, options?: CallOptions): MutationOf<undefined, void>;
  };
  readonly applications: {
    create(options?: CallOptions): MutationOf<NewApplication, ApplicationCreate>;
    update(applicationId: number | string, options?: CallOptions): MutationOf<Application, ApplicationUpdate>;
    delete(applicationId: number | string, options?: CallOptions): MutationOf<undefined, void>;
    rotateSecret(applicationId: number | string, options?: CallOptions): MutationOf<SecretRotation, SecretRotationCreate>;
    createRegistrationToken(options?: CallOptions): MutationOf<RegistrationToken, RegistrationTokenCreate>;
  };
  readonly signingKeys: {
    rotate(options?: CallOptions): MutationOf<SigningKeyRotation, SigningKeyRotationCreate>;
  };
}
