// Written by codegen/generate.ts from the OpenAPI document of the contract. Do not edit.

import type { Call, CallOptions, DryRun, IfMatch, IfNoneMatch } from '../core/call.ts';
import type { DownloadedFile } from '../core/download.ts';
import type { PagedCall } from '../core/paged-call.ts';
import type { ProblemsOf } from './routes.gen.ts';
import type { components, operations } from './types.gen.ts';
import type { FileContent, UploadOptions } from '../core/upload.ts';

export type ApiKey = components['schemas']['ApiKey'];
export type ApiKeyCreate = components['schemas']['ApiKeyCreate'];
export type ApiKeyPage = components['schemas']['ApiKeyPage'];
export type ApiVersion = components['schemas']['ApiVersion'];
export type ApiVersionList = components['schemas']['ApiVersionList'];
export type Application = components['schemas']['Application'];
export type ApplicationCreate = components['schemas']['ApplicationCreate'];
export type ApplicationPage = components['schemas']['ApplicationPage'];
export type ApplicationUpdate = components['schemas']['ApplicationUpdate'];
export type AuditEvent = components['schemas']['AuditEvent'];
export type AuditEventPage = components['schemas']['AuditEventPage'];
export type ConnectedApp = components['schemas']['ConnectedApp'];
export type ConnectedAppPage = components['schemas']['ConnectedAppPage'];
export type Delivery = components['schemas']['Delivery'];
export type DeliveryInput = components['schemas']['DeliveryInput'];
export type DeliveryMethod = components['schemas']['DeliveryMethod'];
export type DeliveryMethodList = components['schemas']['DeliveryMethodList'];
export type DeliveryMethodReplace = components['schemas']['DeliveryMethodReplace'];
export type Event = components['schemas']['Event'];
export type EventData = components['schemas']['EventData'];
export type EventPage = components['schemas']['EventPage'];
export type EventSubject = components['schemas']['EventSubject'];
export type LineQuantity = components['schemas']['LineQuantity'];
export type NewApiKey = components['schemas']['NewApiKey'];
export type NewApplication = components['schemas']['NewApplication'];
export type NewWebhookEndpoint = components['schemas']['NewWebhookEndpoint'];
export type NextAction = components['schemas']['NextAction'];
export type Order = components['schemas']['Order'];
export type OrderCancellation = components['schemas']['OrderCancellation'];
export type OrderCreate = components['schemas']['OrderCreate'];
export type OrderExportCreate = components['schemas']['OrderExportCreate'];
export type OrderItem = components['schemas']['OrderItem'];
export type OrderItemCreate = components['schemas']['OrderItemCreate'];
export type OrderPage = components['schemas']['OrderPage'];
export type OrderSummary = components['schemas']['OrderSummary'];
export type OrderUpdate = components['schemas']['OrderUpdate'];
export type Payment = components['schemas']['Payment'];
export type PaymentCreate = components['schemas']['PaymentCreate'];
export type PaymentPage = components['schemas']['PaymentPage'];
export type Problem = components['schemas']['Problem'];
export type ProblemEntry = components['schemas']['ProblemEntry'];
export type Product = components['schemas']['Product'];
export type ProductCategory = components['schemas']['ProductCategory'];
export type ProductCategoryPage = components['schemas']['ProductCategoryPage'];
export type ProductCreate = components['schemas']['ProductCreate'];
export type ProductPage = components['schemas']['ProductPage'];
export type ProductReplace = components['schemas']['ProductReplace'];
export type ProductUpdate = components['schemas']['ProductUpdate'];
export type ProviderEventReceipt = components['schemas']['ProviderEventReceipt'];
export type Redelivery = components['schemas']['Redelivery'];
export type RedeliveryCreate = components['schemas']['RedeliveryCreate'];
export type Refund = components['schemas']['Refund'];
export type RefundCreate = components['schemas']['RefundCreate'];
export type RefundPage = components['schemas']['RefundPage'];
export type RegistrationToken = components['schemas']['RegistrationToken'];
export type RegistrationTokenCreate = components['schemas']['RegistrationTokenCreate'];
export type SecretRotation = components['schemas']['SecretRotation'];
export type SecretRotationCreate = components['schemas']['SecretRotationCreate'];
export type Shipment = components['schemas']['Shipment'];
export type ShipmentCreate = components['schemas']['ShipmentCreate'];
export type ShipmentPage = components['schemas']['ShipmentPage'];
export type ShipmentUpdate = components['schemas']['ShipmentUpdate'];
export type SigningKeyRotation = components['schemas']['SigningKeyRotation'];
export type SigningKeyRotationCreate = components['schemas']['SigningKeyRotationCreate'];
export type StockAdjustment = components['schemas']['StockAdjustment'];
export type StockAdjustmentCreate = components['schemas']['StockAdjustmentCreate'];
export type StockAdjustmentPage = components['schemas']['StockAdjustmentPage'];
export type Task = components['schemas']['Task'];
export type TaskError = components['schemas']['TaskError'];
export type TaskPage = components['schemas']['TaskPage'];
export type TaskResult = components['schemas']['TaskResult'];
export type TestEvent = components['schemas']['TestEvent'];
export type Usage = components['schemas']['Usage'];
export type UsageLimit = components['schemas']['UsageLimit'];
export type UsageMonth = components['schemas']['UsageMonth'];
export type User = components['schemas']['User'];
export type UserCreate = components['schemas']['UserCreate'];
export type UserPage = components['schemas']['UserPage'];
export type UserUpdate = components['schemas']['UserUpdate'];
export type WebhookAttempt = components['schemas']['WebhookAttempt'];
export type WebhookDelivery = components['schemas']['WebhookDelivery'];
export type WebhookDeliveryPage = components['schemas']['WebhookDeliveryPage'];
export type WebhookEndpoint = components['schemas']['WebhookEndpoint'];
export type WebhookEndpointCreate = components['schemas']['WebhookEndpointCreate'];
export type WebhookEndpointPage = components['schemas']['WebhookEndpointPage'];
export type WebhookEndpointUpdate = components['schemas']['WebhookEndpointUpdate'];
export type WebhookSecretRotation = components['schemas']['WebhookSecretRotation'];
export type WebhookSecretRotationCreate = components['schemas']['WebhookSecretRotationCreate'];

/** What is `undefined` is left out. */
type Query<Id extends keyof operations> = { [Name in keyof QueryOf<Id>]: QueryOf<Id>[Name] | undefined };
type QueryOf<Id extends keyof operations> = NonNullable<operations[Id]['parameters']['query']>;

export type VersionsListQuery = Query<'versions.list'>;
export type UsersListQuery = Query<'users.list'>;
export type ProductsListQuery = Query<'products.list'>;
export type ProductsListStockAdjustmentsQuery = Query<'products.listStockAdjustments'>;
export type ProductCategoriesListQuery = Query<'productCategories.list'>;
export type DeliveryMethodsListQuery = Query<'deliveryMethods.list'>;
export type OrdersListQuery = Query<'orders.list'>;
export type PaymentsListQuery = Query<'payments.list'>;
export type PaymentsListAllQuery = Query<'payments.listAll'>;
export type RefundsListQuery = Query<'refunds.list'>;
export type RefundsListAllQuery = Query<'refunds.listAll'>;
export type ShipmentsListQuery = Query<'shipments.list'>;
export type ShipmentsListAllQuery = Query<'shipments.listAll'>;
export type OrderImportsCreateQuery = Query<'orderImports.create'>;
export type ProductImportsCreateQuery = Query<'productImports.create'>;
export type TasksListQuery = Query<'tasks.list'>;
export type EventsListQuery = Query<'events.list'>;
export type WebhooksListQuery = Query<'webhooks.list'>;
export type WebhooksDeliveriesQuery = Query<'webhooks.deliveries'>;
export type ConnectedAppsListQuery = Query<'connectedApps.list'>;
export type ConnectedAppsRemoveQuery = Query<'connectedApps.remove'>;
export type ApiKeysListQuery = Query<'apiKeys.list'>;
export type ApplicationsListQuery = Query<'applications.list'>;
export type AuditEventsListQuery = Query<'auditEvents.list'>;

export interface VersionsResource {
  /**
   * List the versions of the API.
   * Every answer names the version it is of in `Mandate-Version`.
   * Needs no token.
   */
  list(query?: VersionsListQuery, options?: CallOptions): PagedCall<ApiVersionList, ProblemsOf['versions.list']>;
}

export interface UsersResource {
  /**
   * Get the signed-in user.
   * The person the access token acts for. A token of an application that acts for itself has none: 403.
   * Needs the scope `users.read` or `users.manage`.
   */
  me(options: CallOptions & Required<IfNoneMatch>): Call<User | undefined, ProblemsOf['users.me']>;
  /**
   * Get the signed-in user.
   * The person the access token acts for. A token of an application that acts for itself has none: 403.
   * Needs the scope `users.read` or `users.manage`.
   */
  me(options?: CallOptions): Call<User, ProblemsOf['users.me']>;
  /**
   * Get a user.
   * `users.read` reaches the user the token acts for; others need `users.manage` and a member of staff.
   * Needs the scope `users.read` or `users.manage`.
   */
  get(userId: number | string, options: CallOptions & Required<IfNoneMatch>): Call<User | undefined, ProblemsOf['users.get']>;
  /**
   * Get a user.
   * `users.read` reaches the user the token acts for; others need `users.manage` and a member of staff.
   * Needs the scope `users.read` or `users.manage`.
   */
  get(userId: number | string, options?: CallOptions): Call<User, ProblemsOf['users.get']>;
  /**
   * Change a user.
   * A merge patch (RFC 7396). `users.write` changes the name of the user the token acts for. `users.manage` changes the name, e-mail address and status of customers and requires a staff account. Roles, and the accounts of staff and administrators, require `users.administer`, a signed-in administrator, and a sign-in during the last 15 minutes: otherwise the response is 401 `insufficient_user_authentication` with the required `max_age` (RFC 9470). A changed e-mail address is unverified until it is confirmed by the link that is sent to it, and resets no password before; the old and the new address are notified. A suspended user is signed out everywhere, and no application can act for them until they are active again.
   * Needs the scope `users.write` or `users.manage` or `users.administer`.
   */
  update(userId: number | string, body: UserUpdate, options?: CallOptions & IfMatch): Call<User, ProblemsOf['users.update']>;
  /**
   * Close a user.
   * For good: the name is removed, the e-mail address is free again, every application loses its access. Orders stay. `users.write` closes the account of the user the token acts for, `users.manage` with an administrator that of a customer. The accounts of staff and administrators require `users.administer`, a signed-in administrator, and a sign-in during the last 15 minutes (RFC 9470).
   * Needs the scope `users.write` or `users.manage` or `users.administer`.
   */
  close(userId: number | string, options?: CallOptions & IfMatch): Call<undefined, ProblemsOf['users.close']>;
  /**
   * Create a user.
   * For members of staff. People sign themselves up on the sign-up page.
   * Needs the scope `users.manage`.
   */
  create(body: UserCreate, options?: CallOptions): Call<User, ProblemsOf['users.create']>;
  /**
   * List users.
   * For members of staff.
   * Needs the scope `users.manage`.
   */
  list(query?: UsersListQuery, options?: CallOptions): PagedCall<UserPage, ProblemsOf['users.list']>;
}

export interface ProductsResource {
  /**
   * List products.
   * Needs no token.
   */
  list(query?: ProductsListQuery, options?: CallOptions): PagedCall<ProductPage, ProblemsOf['products.list']>;
  /**
   * Create a product.
   * Needs the scope `products.write`.
   */
  create(body: ProductCreate, options?: CallOptions): Call<Product, ProblemsOf['products.create']>;
  /**
   * Get a product.
   * Needs no token.
   */
  get(productId: number | string, options: CallOptions & Required<IfNoneMatch>): Call<Product | undefined, ProblemsOf['products.get']>;
  /**
   * Get a product.
   * Needs no token.
   */
  get(productId: number | string, options?: CallOptions): Call<Product, ProblemsOf['products.get']>;
  /**
   * Change a product.
   * A merge patch (RFC 7396): what is absent stays as it is. Orders keep the price and name they were placed with.
   * Needs the scope `products.write`.
   */
  update(productId: number | string, body: ProductUpdate, options?: CallOptions & IfMatch): Call<Product, ProblemsOf['products.update']>;
  /**
   * Replace a product.
   * Sets everything that can be changed; what is absent gets its default. Needs `If-Match`, so that nobody overwrites what they have not seen.
   * Needs the scope `products.write`.
   */
  replace(productId: number | string, body: ProductReplace, options?: CallOptions & IfMatch): Call<Product, ProblemsOf['products.replace']>;
  /**
   * Delete a product.
   * Only a draft that was never ordered; archive it otherwise.
   * Needs the scope `products.write`.
   */
  delete(productId: number | string, options?: CallOptions & IfMatch): Call<undefined, ProblemsOf['products.delete']>;
  /**
   * Adjust the stock of a product.
   * Stock changes by steps, never by setting a number, so that no sale in between is lost. The first adjustment of a product begins the counting.
   * Needs the scope `products.write`.
   */
  adjustStock(productId: number | string, body: StockAdjustmentCreate, options?: CallOptions): Call<StockAdjustment, ProblemsOf['products.adjustStock']>;
  /**
   * List stock adjustments of a product.
   * Newest first.
   * Needs the scope `products.write`.
   */
  listStockAdjustments(productId: number | string, query?: ProductsListStockAdjustmentsQuery, options?: CallOptions): PagedCall<StockAdjustmentPage, ProblemsOf['products.listStockAdjustments']>;
}

export interface ProductCategoriesResource {
  /**
   * List product categories.
   * The categories of the products that the caller may see, sorted by name. A category without such products is not listed.
   * Needs no token.
   */
  list(query?: ProductCategoriesListQuery, options?: CallOptions): PagedCall<ProductCategoryPage, ProblemsOf['productCategories.list']>;
}

export interface DeliveryMethodsResource {
  /**
   * List delivery methods.
   * The delivery methods that a new order can use, cheapest first.
   * Needs no token.
   */
  list(query?: DeliveryMethodsListQuery, options?: CallOptions): PagedCall<DeliveryMethodList, ProblemsOf['deliveryMethods.list']>;
  /**
   * Get a delivery method.
   * Needs no token.
   */
  get(code: number | string, options: CallOptions & Required<IfNoneMatch>): Call<DeliveryMethod | undefined, ProblemsOf['deliveryMethods.get']>;
  /**
   * Get a delivery method.
   * Needs no token.
   */
  get(code: number | string, options?: CallOptions): Call<DeliveryMethod, ProblemsOf['deliveryMethods.get']>;
  /**
   * Create or replace a delivery method.
   * To replace one that exists, send its ETag in `If-Match`. Orders keep the price they were placed with.
   * Needs the scope `settings.write`.
   */
  replace(code: number | string, body: DeliveryMethodReplace, options?: CallOptions & IfMatch & IfNoneMatch): Call<DeliveryMethod, ProblemsOf['deliveryMethods.replace']>;
  /**
   * Delete a delivery method.
   * No new order can name it; orders that do stay as they are.
   * Needs the scope `settings.write`.
   */
  delete(code: number | string, options?: CallOptions & IfMatch): Call<undefined, ProblemsOf['deliveryMethods.delete']>;
}

export interface OrdersResource {
  /**
   * Place an order.
   * Takes the stock and fixes the prices at once. The order then waits for payment until `expires_at`. Send an `Idempotency-Key`, so that a repeated request does not order twice.
   * Needs the scope `orders.write` or `orders.manage`.
   */
  create(body: OrderCreate, options?: CallOptions & DryRun): Call<Order, ProblemsOf['orders.create']>;
  /**
   * List orders.
   * The orders of the current user; every order, for a member of staff with `orders.manage`. Order lines are returned by `include=items`, and with the single order.
   * Needs the scope `orders.read` or `orders.manage`.
   */
  list(query?: OrdersListQuery, options?: CallOptions): PagedCall<OrderPage, ProblemsOf['orders.list']>;
  /**
   * Get an order.
   * Needs the scope `orders.read` or `orders.manage`.
   */
  get(orderId: number | string, options: CallOptions & Required<IfNoneMatch>): Call<Order | undefined, ProblemsOf['orders.get']>;
  /**
   * Get an order.
   * Needs the scope `orders.read` or `orders.manage`.
   */
  get(orderId: number | string, options?: CallOptions): Call<Order, ProblemsOf['orders.get']>;
  /**
   * Change an order.
   * A merge patch (RFC 7396) of what does not change the price. The delivery can change until something is shipped; by the customer only while the order is pending.
   * Needs the scope `orders.write` or `orders.manage`.
   */
  update(orderId: number | string, body: OrderUpdate, options?: CallOptions & IfMatch): Call<Order, ProblemsOf['orders.update']>;
  /**
   * Cancel an order.
   * While nothing is shipped. The goods go back into stock, and what was paid is paid back.
   * Needs the scope `orders.write` or `orders.manage`.
   */
  cancel(orderId: number | string, body: OrderCancellation, options?: CallOptions & DryRun): Call<Order, ProblemsOf['orders.cancel']>;
}

export interface PaymentsResource {
  /**
   * Pay for an order.
   * Starts a payment of the whole total. Check `status` and `next_action`: the payment may have succeeded already, wait for the customer, or continue at the provider. In development, `{"provider": "test", "method_token": "test_ok"}` pays an order without money.
   * Needs the scope `payments.write` or `payments.manage`.
   */
  create(orderId: number | string, body: PaymentCreate, options?: CallOptions): Call<Payment, ProblemsOf['payments.create']>;
  /**
   * List the payments of an order.
   * Newest first.
   * Needs the scope `payments.read` or `payments.manage`.
   */
  list(orderId: number | string, query?: PaymentsListQuery, options?: CallOptions): PagedCall<PaymentPage, ProblemsOf['payments.list']>;
  /**
   * List payments.
   * The payments for the current user's orders; every payment, for staff with `payments.manage`.
   * Needs the scope `payments.read` or `payments.manage`.
   */
  listAll(query?: PaymentsListAllQuery, options?: CallOptions): PagedCall<PaymentPage, ProblemsOf['payments.listAll']>;
  /**
   * Get a payment.
   * Staff with `payments.manage` also see `provider_reference`: the identifier of the payment at its provider, such as the PaymentIntent of Stripe.
   * Needs the scope `payments.read` or `payments.manage`.
   */
  get(paymentId: number | string, options: CallOptions & Required<IfNoneMatch>): Call<Payment | undefined, ProblemsOf['payments.get']>;
  /**
   * Get a payment.
   * Staff with `payments.manage` also see `provider_reference`: the identifier of the payment at its provider, such as the PaymentIntent of Stripe.
   * Needs the scope `payments.read` or `payments.manage`.
   */
  get(paymentId: number | string, options?: CallOptions): Call<Payment, ProblemsOf['payments.get']>;
  /**
   * Cancel a payment.
   * While it waits for the customer. The order stays, and can be paid in another way until its hold ends.
   * Needs the scope `payments.write` or `payments.manage`.
   */
  cancel(paymentId: number | string, options?: CallOptions): Call<Payment, ProblemsOf['payments.cancel']>;
  /**
   * Confirm a manual payment.
   * The money has arrived, in cash or in the bank. If the order was canceled in the meantime, it is to be paid back.
   * Needs the scope `payments.manage`.
   */
  confirm(paymentId: number | string, options?: CallOptions): Call<Payment, ProblemsOf['payments.confirm']>;
}

export interface RefundsResource {
  /**
   * Pay money back.
   * All of what was paid, or a part of it. Goods go back into stock only as `restock` says.
   * Needs the scope `refunds.write`.
   */
  create(orderId: number | string, body: RefundCreate, options?: CallOptions & DryRun): Call<Refund, ProblemsOf['refunds.create']>;
  /**
   * List the refunds of an order.
   * Newest first.
   * Needs the scope `payments.read` or `payments.manage`.
   */
  list(orderId: number | string, query?: RefundsListQuery, options?: CallOptions): PagedCall<RefundPage, ProblemsOf['refunds.list']>;
  /**
   * List refunds.
   * The refunds for the current user's orders; every refund, for staff with `payments.manage`.
   * Needs the scope `payments.read` or `payments.manage`.
   */
  listAll(query?: RefundsListAllQuery, options?: CallOptions): PagedCall<RefundPage, ProblemsOf['refunds.listAll']>;
  /**
   * Get a refund.
   * Needs the scope `payments.read` or `payments.manage`.
   */
  get(refundId: number | string, options: CallOptions & Required<IfNoneMatch>): Call<Refund | undefined, ProblemsOf['refunds.get']>;
  /**
   * Get a refund.
   * Needs the scope `payments.read` or `payments.manage`.
   */
  get(refundId: number | string, options?: CallOptions): Call<Refund, ProblemsOf['refunds.get']>;
  /**
   * Confirm a refund of a manual payment.
   * The money has been handed or sent back.
   * Needs the scope `refunds.write`.
   */
  confirm(refundId: number | string, options?: CallOptions): Call<Refund, ProblemsOf['refunds.confirm']>;
}

export interface ShipmentsResource {
  /**
   * Ship an order.
   * All of a paid order, or a part of it.
   * Needs the scope `shipments.write`.
   */
  create(orderId: number | string, body: ShipmentCreate, options?: CallOptions & DryRun): Call<Shipment, ProblemsOf['shipments.create']>;
  /**
   * List the shipments of an order.
   * Newest first.
   * Needs the scope `orders.read` or `orders.manage` or `shipments.write`.
   */
  list(orderId: number | string, query?: ShipmentsListQuery, options?: CallOptions): PagedCall<ShipmentPage, ProblemsOf['shipments.list']>;
  /**
   * List shipments.
   * The shipments of the current user's orders; every shipment, for staff with `shipments.write` or `orders.manage`.
   * Needs the scope `orders.read` or `orders.manage` or `shipments.write`.
   */
  listAll(query?: ShipmentsListAllQuery, options?: CallOptions): PagedCall<ShipmentPage, ProblemsOf['shipments.listAll']>;
  /**
   * Get a shipment.
   * Needs the scope `orders.read` or `orders.manage` or `shipments.write`.
   */
  get(shipmentId: number | string, options: CallOptions & Required<IfNoneMatch>): Call<Shipment | undefined, ProblemsOf['shipments.get']>;
  /**
   * Get a shipment.
   * Needs the scope `orders.read` or `orders.manage` or `shipments.write`.
   */
  get(shipmentId: number | string, options?: CallOptions): Call<Shipment, ProblemsOf['shipments.get']>;
  /**
   * Change a shipment.
   * Where the parcel is: `pending`, then `shipped`, then `delivered`, or `failed` when it cannot be delivered. Only a pending one can be `canceled`.
   * Needs the scope `shipments.write`.
   */
  update(shipmentId: number | string, body: ShipmentUpdate, options?: CallOptions & IfMatch): Call<Shipment, ProblemsOf['shipments.update']>;
}

export interface OrderExportsResource {
  /**
   * Export orders.
   * Starts a task that writes the orders of the list with the same filters into a file, oldest first. Also requires `orders.read`, or `orders.manage` and a staff account for the orders of every customer. In CSV, text that a spreadsheet would take for a formula begins with an apostrophe.
   * Needs the scope `tasks.write`.
   */
  create(body: OrderExportCreate, options?: CallOptions): Call<Task, ProblemsOf['orderExports.create']>;
}

export interface OrderImportsResource {
  /**
   * Import orders.
   * Starts a task that brings a shop's history in: one row for each line of each order, with its own reference, time and unit prices. No stock is taken, no payment asked, nobody told. Orders are `delivered` and paid unless the file says `paid`, `shipped` or `canceled`. Needs `orders.manage` as well. An order that was imported before with the same data is left unchanged; one with different data is refused, unless `changed_orders` is `replace`. The result says which lines were refused, and why. A file may have any size and any number of rows: only the disk of the service limits it. A row has at most 100000 bytes, and the upload must average at least 100000 bytes per second after its first 30 seconds. An order has at most 2000 lines.
   * Needs the scope `tasks.write`.
   */
  create(file: FileContent, query: OrderImportsCreateQuery, options?: UploadOptions): Call<Task, ProblemsOf['orderImports.create']>;
}

export interface ProductImportsResource {
  /**
   * Import products.
   * Starts a task that creates the products of a file, and changes those whose SKU exists: what the file does not have stays as it is. Stock is for new products only. Needs `products.write` as well. The result says which lines were refused, and why. A file may have any size and any number of rows: only the disk of the service limits it. A row has at most 100000 bytes, and the upload must average at least 100000 bytes per second after its first 30 seconds.
   * Needs the scope `tasks.write`.
   */
  create(file: FileContent, query?: ProductImportsCreateQuery, options?: UploadOptions): Call<Task, ProblemsOf['productImports.create']>;
}

export interface TasksResource {
  /**
   * List tasks.
   * Your own, newest first. A task shows only to tokens that have the scopes it was started with.
   * Needs the scope `tasks.read`.
   */
  list(query?: TasksListQuery, options?: CallOptions): PagedCall<TaskPage, ProblemsOf['tasks.list']>;
  /**
   * Get a task.
   * While it is not finished, `Retry-After` says when to ask again. Kept for 30 days after its end.
   * Needs the scope `tasks.read`.
   */
  get(taskId: number | string, options?: CallOptions): Call<Task, ProblemsOf['tasks.get']>;
  /**
   * Fetch the result of a task.
   * The file, for 7 days after the end of the task. There is no link that works without a token.
   * Needs the scope `tasks.read`.
   */
  result(taskId: number | string, options?: CallOptions): Call<DownloadedFile, ProblemsOf['tasks.result']>;
  /**
   * Cancel a task.
   * What an import has written by then stays, and `imported` of the returned task counts it; nothing follows.
   * Needs the scope `tasks.write`.
   */
  cancel(taskId: number | string, options?: CallOptions): Call<Task, ProblemsOf['tasks.cancel']>;
}

export interface EventsResource {
  /**
   * List events.
   * What happened, in order, to whatever the token may see: each kind of thing takes the scope that it takes elsewhere. An event shows once its change is committed, and none is ever put in before one that has been shown. Kept for 30 days; whoever goes on after an older one is answered 410.
   * Needs the scope `events.read`.
   */
  list(query?: EventsListQuery, options?: CallOptions): Call<EventPage, ProblemsOf['events.list']>;
  /**
   * Get an event.
   * Needs the scope `events.read`.
   */
  get(eventId: number | string, options?: CallOptions): Call<Event, ProblemsOf['events.get']>;
}

export interface WebhooksResource {
  /**
   * List webhook endpoints.
   * Your own, newest first: those that the application of the token registered, and with an application of the shop all of a person’s.
   * Needs the scope `webhooks.read`.
   */
  list(query?: WebhooksListQuery, options?: CallOptions): PagedCall<WebhookEndpointPage, ProblemsOf['webhooks.list']>;
  /**
   * Create a webhook endpoint.
   * It gets the events that the token could read, and those of an application on its own account the events of every person who allows it to see them, for as long as they do. At least once, in no certain order, signed as Standard Webhooks says; a failed delivery is tried 10 times within 76 hours. The secret is shown once.
   * Needs the scope `webhooks.write`.
   */
  create(body: WebhookEndpointCreate, options?: CallOptions): Call<NewWebhookEndpoint, ProblemsOf['webhooks.create']>;
  /**
   * Get a webhook endpoint.
   * Needs the scope `webhooks.read`.
   */
  get(webhookEndpointId: number | string, options: CallOptions & Required<IfNoneMatch>): Call<WebhookEndpoint | undefined, ProblemsOf['webhooks.get']>;
  /**
   * Get a webhook endpoint.
   * Needs the scope `webhooks.read`.
   */
  get(webhookEndpointId: number | string, options?: CallOptions): Call<WebhookEndpoint, ProblemsOf['webhooks.get']>;
  /**
   * Update a webhook endpoint.
   * What is absent stays. Afterwards it sees what the token of the change can see. While it is disabled its deliveries are skipped; redeliver them once it is enabled again.
   * Needs the scope `webhooks.write`.
   */
  update(webhookEndpointId: number | string, body: WebhookEndpointUpdate, options?: CallOptions & IfMatch): Call<WebhookEndpoint, ProblemsOf['webhooks.update']>;
  /**
   * Delete a webhook endpoint.
   * With its deliveries. Nothing is sent to it after the answer.
   * Needs the scope `webhooks.write`.
   */
  delete(webhookEndpointId: number | string, options?: CallOptions & IfMatch): Call<undefined, ProblemsOf['webhooks.delete']>;
  /**
   * Replace the secret of a webhook endpoint.
   * Deliveries carry both signatures until the overlap ends. The secret is shown once.
   * Needs the scope `webhooks.write`.
   */
  rotateSecret(webhookEndpointId: number | string, body: WebhookSecretRotationCreate, options?: CallOptions): Call<WebhookSecretRotation, ProblemsOf['webhooks.rotateSecret']>;
  /**
   * List deliveries.
   * What was sent to the endpoint, or will be, newest first. Kept as long as their events: 30 days.
   * Needs the scope `webhooks.read`.
   */
  deliveries(webhookEndpointId: number | string, query?: WebhooksDeliveriesQuery, options?: CallOptions): PagedCall<WebhookDeliveryPage, ProblemsOf['webhooks.deliveries']>;
  /**
   * Deliver events again.
   * One event, or a range of them, with the same ids as before and a fresh row of tries.
   * Needs the scope `webhooks.write`.
   */
  redeliver(webhookEndpointId: number | string, body: RedeliveryCreate, options?: CallOptions): Call<Redelivery, ProblemsOf['webhooks.redeliver']>;
  /**
   * Send a test event.
   * An event of the type `webhook_endpoint.test`, to this endpoint alone, whatever types it wants.
   * Needs the scope `webhooks.write`.
   */
  test(webhookEndpointId: number | string, options?: CallOptions): Call<TestEvent, ProblemsOf['webhooks.test']>;
}

export interface ConnectedAppsResource {
  /**
   * List connected applications.
   * The applications that can act for the current user now, newest first: one entry for each device.
   * Needs the scope `connected_apps.read`.
   */
  list(query?: ConnectedAppsListQuery, options?: CallOptions): PagedCall<ConnectedAppPage, ProblemsOf['connectedApps.list']>;
  /**
   * Remove a connected application.
   * Its access ends with this request. Before it gets any again, the user is asked. The API keys that the application created for the user, on any device, are revoked unless `api_keys=keep`.
   * Needs the scope `connected_apps.write`.
   */
  remove(connectedAppId: number | string, query?: ConnectedAppsRemoveQuery, options?: CallOptions): Call<undefined, ProblemsOf['connectedApps.remove']>;
}

export interface ApiKeysResource {
  /**
   * List API keys.
   * The keys of the current user, newest first, without the keys themselves.
   * Needs the scope `api_keys.manage`.
   */
  list(query?: ApiKeysListQuery, options?: CallOptions): PagedCall<ApiKeyPage, ProblemsOf['apiKeys.list']>;
  /**
   * Create an API key.
   * A key acts for the current user at the API, as `Authorization: Bearer mk_...`, until it ends or is revoked. The key itself is shown once. Creating a key requires that the user signed in during the last 15 minutes.
   * Needs the scope `api_keys.manage`.
   */
  create(body: ApiKeyCreate, options?: CallOptions): Call<NewApiKey, ProblemsOf['apiKeys.create']>;
  /**
   * Revoke an API key.
   * It is refused from the next request on. Revoking it again changes nothing.
   * Needs the scope `api_keys.manage`.
   */
  revoke(apiKeyId: number | string, options?: CallOptions): Call<undefined, ProblemsOf['apiKeys.revoke']>;
}

export interface ApplicationsResource {
  /**
   * List applications.
   * Every application that is registered here, newest first. For administrators.
   * Needs the scope `applications.manage`.
   */
  list(query?: ApplicationsListQuery, options?: CallOptions): PagedCall<ApplicationPage, ProblemsOf['applications.list']>;
  /**
   * Register an application.
   * The secret is shown once. For administrators.
   * Needs the scope `applications.manage`.
   */
  create(body: ApplicationCreate, options?: CallOptions): Call<NewApplication, ProblemsOf['applications.create']>;
  /**
   * Get an application.
   * For administrators.
   * Needs the scope `applications.manage`.
   */
  get(applicationId: number | string, options?: CallOptions): Call<Application, ProblemsOf['applications.get']>;
  /**
   * Change an application.
   * What is left out stays as it is. Everything is effective with the next request. Of an application with a metadata document only `status`, `rate_limit_per_minute` and `quota_per_month` can be changed: the document defines the rest. For administrators.
   * Needs the scope `applications.manage`.
   */
  update(applicationId: number | string, body: ApplicationUpdate, options?: CallOptions): Call<Application, ProblemsOf['applications.update']>;
  /**
   * Delete an application.
   * With everything it was allowed: its tokens stop at once. An application with a metadata document is registered again when it is next used: disable it to block it. For administrators.
   * Needs the scope `applications.manage`.
   */
  delete(applicationId: number | string, options?: CallOptions): Call<undefined, ProblemsOf['applications.delete']>;
  /**
   * Replace the secret of an application.
   * The new one works at once, the old one for a while yet. For administrators.
   * Needs the scope `applications.manage`.
   */
  rotateSecret(applicationId: number | string, body: SecretRotationCreate, options?: CallOptions): Call<SecretRotation, ProblemsOf['applications.rotateSecret']>;
  /**
   * Create a registration token.
   * Whoever has it registers applications at the registration endpoint (RFC 7591), with scopes that customers can allow and no others. For administrators.
   * Needs the scope `applications.manage`.
   */
  createRegistrationToken(body: RegistrationTokenCreate, options?: CallOptions): Call<RegistrationToken, ProblemsOf['applications.createRegistrationToken']>;
}

export interface AuditEventsResource {
  /**
   * List audit events.
   * What happened to credentials and permissions, newest first, for administrators. Nothing in it is ever changed or removed.
   * Needs the scope `audit.read`.
   */
  list(query?: AuditEventsListQuery, options?: CallOptions): PagedCall<AuditEventPage, ProblemsOf['auditEvents.list']>;
}

export interface UsageResource {
  /**
   * Get your usage.
   * What the application or API key that asks has left of its limits, and how many requests it made in the last twelve months, newest first. Any token will do.
   * Needs a token with any scope.
   */
  get(options?: CallOptions): Call<Usage, ProblemsOf['usage.get']>;
}

export interface SigningKeysResource {
  /**
   * Rotate the signing keys.
   * They follow each other by themselves; this is for when one should go before its time. New keys are published first and sign an hour later, so that no request fails. For administrators.
   * Needs the scope `signing_keys.manage`.
   */
  rotate(body: SigningKeyRotationCreate, options?: CallOptions): Call<SigningKeyRotation, ProblemsOf['signingKeys.rotate']>;
}

/** The methods of the client, by resource. */
export interface Resources {
  readonly versions: VersionsResource;
  readonly users: UsersResource;
  readonly products: ProductsResource;
  readonly productCategories: ProductCategoriesResource;
  readonly deliveryMethods: DeliveryMethodsResource;
  readonly orders: OrdersResource;
  readonly payments: PaymentsResource;
  readonly refunds: RefundsResource;
  readonly shipments: ShipmentsResource;
  readonly orderExports: OrderExportsResource;
  readonly orderImports: OrderImportsResource;
  readonly productImports: ProductImportsResource;
  readonly tasks: TasksResource;
  readonly events: EventsResource;
  readonly webhooks: WebhooksResource;
  readonly connectedApps: ConnectedAppsResource;
  readonly apiKeys: ApiKeysResource;
  readonly applications: ApplicationsResource;
  readonly auditEvents: AuditEventsResource;
  readonly usage: UsageResource;
  readonly signingKeys: SigningKeysResource;
}
