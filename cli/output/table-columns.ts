import type {
  ApiKey,
  ApiVersion,
  Application,
  ApprovalSummary,
  AuditEvent,
  ConnectedApp,
  DeliveryMethod,
  IdentityProvider,
  OrderItem,
  OrderSummary,
  Payment,
  Product,
  ProductCategory,
  QuoteSummary,
  Refund,
  Shipment,
  StockAdjustment,
  Task,
  User,
  WebhookDelivery,
  WebhookEndpoint,
} from '@mandate/client-sdk';

type ColumnsOf<Item> = readonly (keyof Item & string)[];

const apiKeyColumns = ['id', 'name', 'prefix', 'scopes', 'status', 'expires_at', 'last_used_at'] satisfies ColumnsOf<ApiKey>;
const connectedAppColumns = ['id', 'application.name', 'device', 'scopes', 'created_at', 'last_used_at'] satisfies readonly (
  | keyof ConnectedApp
  | 'application.name'
)[];

/** The fields that a table shows, by operation ID. An operation without an entry shows all scalar fields. */
export const tableColumnsByOperation: Readonly<Record<string, readonly string[]>> = {
  'versions.list': ['version', 'status', 'deprecated_at', 'sunset_at'] satisfies ColumnsOf<ApiVersion>,
  'products.list': ['id', 'sku', 'name', 'category', 'price', 'stock'] satisfies ColumnsOf<Product>,
  'productCategories.list': ['category', 'product_count'] satisfies ColumnsOf<ProductCategory>,
  'products.listStockAdjustments': ['id', 'delta', 'stock_after', 'reason', 'created_at'] satisfies ColumnsOf<StockAdjustment>,
  'deliveryMethods.list': ['code', 'name', 'price', 'requires_address'] satisfies ColumnsOf<DeliveryMethod>,
  'users.list': ['id', 'name', 'email', 'status', 'role', 'created_at'] satisfies ColumnsOf<User>,
  'payments.list': ['id', 'attempt', 'provider', 'status', 'amount', 'refunded_total', 'created_at'] satisfies ColumnsOf<Payment>,
  'payments.listAll': ['id', 'order_id', 'provider', 'status', 'amount', 'refunded_total', 'created_at'] satisfies ColumnsOf<Payment>,
  'refunds.list': ['id', 'payment_id', 'status', 'amount', 'reason', 'created_at'] satisfies ColumnsOf<Refund>,
  'refunds.listAll': ['id', 'order_id', 'payment_id', 'status', 'amount', 'reason', 'created_at'] satisfies ColumnsOf<Refund>,
  'shipments.list': ['id', 'status', 'carrier', 'tracking_number', 'created_at'] satisfies ColumnsOf<Shipment>,
  'shipments.listAll': ['id', 'order_id', 'status', 'carrier', 'tracking_number', 'created_at'] satisfies ColumnsOf<Shipment>,
  'tasks.list': ['id', 'type', 'status', 'created_at', 'finished_at'] satisfies ColumnsOf<Task>,
  'orders.list': ['id', 'status', 'payment_status', 'total', 'item_count', 'created_at'] satisfies ColumnsOf<OrderSummary>,
  'quotes.list': ['id', 'status', 'total', 'item_count', 'hold', 'order_id', 'created_at', 'expires_at'] satisfies ColumnsOf<QuoteSummary>,
  'approvals.list': [
    'id',
    'status',
    'application_name',
    'total',
    'quote_id',
    'order_id',
    'created_at',
    'expires_at',
  ] satisfies ColumnsOf<ApprovalSummary>,
  'approvals.listAll': [
    'id',
    'status',
    'user_id',
    'application_name',
    'total',
    'created_at',
    'expires_at',
  ] satisfies ColumnsOf<ApprovalSummary>,
  'webhooks.list': ['id', 'url', 'events', 'status', 'created_at'] satisfies ColumnsOf<WebhookEndpoint>,
  'webhooks.deliveries': ['id', 'event_id', 'event_type', 'status', 'next_attempt_at', 'created_at'] satisfies ColumnsOf<WebhookDelivery>,
  'connectedApps.list': connectedAppColumns,
  'connectedApps.listOfUser': connectedAppColumns,
  'apiKeys.list': apiKeyColumns,
  'apiKeys.listOfUser': apiKeyColumns,
  'identityProviders.list': ['id', 'slug', 'name', 'issuer', 'audience', 'status'] satisfies ColumnsOf<IdentityProvider>,
  'applications.list': ['id', 'client_id', 'name', 'type', 'status', 'registration', 'created_at'] satisfies ColumnsOf<Application>,
  'auditEvents.list': [
    'occurred_at',
    'action',
    'outcome',
    'actor_id',
    'user_id',
    'client_id',
    'subject',
    'ip',
  ] satisfies ColumnsOf<AuditEvent>,
  ...Object.fromEntries(
    ['shipments.create', 'shipments.update'].map((operationId) => [
      operationId,
      [
        'id',
        'order_id',
        'status',
        'carrier',
        'tracking_number',
        'tracking_url',
        'shipped_at',
        'delivered_at',
        'items',
      ] satisfies ColumnsOf<Shipment>,
    ]),
  ),
};

/** Columns of the lists for staff, which contain the items of all customers. */
export const staffTableColumnsByOperation: Readonly<Record<string, readonly string[]>> = {
  'orders.list': [
    'id',
    'user_id',
    'client_id',
    'status',
    'payment_status',
    'fulfillment_status',
    'total',
    'item_count',
    'created_at',
  ] satisfies ColumnsOf<OrderSummary>,
  'quotes.list': [
    'id',
    'user_id',
    'client_id',
    'status',
    'total',
    'item_count',
    'hold',
    'order_id',
    'created_at',
    'expires_at',
  ] satisfies ColumnsOf<QuoteSummary>,
};

/** The columns of a nested list. A column is omitted if no item has its field. */
export const tableColumnsOfNestedLists: Readonly<Record<string, readonly string[]>> = {
  items: ['line', 'product_id', 'sku', 'name', 'quantity', 'unit_price', 'total'] satisfies ColumnsOf<OrderItem>,
};

const connectedAppHeadings = { 'application.name': 'application', last_used_at: 'last used' };

/** Column headings that differ from the field names, by operation ID. */
const headings: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'orders.list': {
    user_id: 'customer',
    client_id: 'application',
    payment_status: 'payment',
    fulfillment_status: 'fulfillment',
    item_count: 'items',
    created_at: 'placed',
  },
  'quotes.list': { user_id: 'customer', client_id: 'application', item_count: 'items', order_id: 'order', created_at: 'created' },
  'applications.list': { registration: 'registered by', created_at: 'registered' },
  'auditEvents.list': { occurred_at: 'time', actor_id: 'actor', user_id: 'user', client_id: 'application' },
  'connectedApps.list': connectedAppHeadings,
  'connectedApps.listOfUser': connectedAppHeadings,
  'approvals.listAll': { user_id: 'customer', application_name: 'application', created_at: 'requested', expires_at: 'expires' },
};

export const getColumnHeadings = (operationId: string): Readonly<Record<string, string>> => headings[operationId] ?? {};
