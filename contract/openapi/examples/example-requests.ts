import type { JsonObject, JsonValue } from '../../schema/json.ts';

/** Example request bodies, by schema name. A new installation accepts these requests unchanged. */
export const exampleRequestBodiesBySchemaName: Readonly<Record<string, JsonObject>> = {
  OrderCreate: {
    items: [{ product_id: 1, quantity: 2 }],
    delivery: { method: 'collection', recipient_name: 'Ann Lee' },
    reference: 'PO-2026-118',
  },
  QuoteCreate: {
    items: [{ product_id: 1, quantity: 2 }],
    delivery: { method: 'collection', recipient_name: 'Ann Lee' },
    reference: 'PO-2026-120',
  },
  OrderUpdate: { reference: 'PO-2026-119', note: 'Please ring twice' },
  OrderCancellation: { reason: 'customer' },
  OrderExportCreate: { format: 'csv', status: ['pending', 'paid'] },
  PaymentCreate: { provider: 'manual' },
  RefundCreate: { amount: 425, reason: 'requested_by_customer', restock: [{ line: 1, quantity: 1 }] },
  ShipmentCreate: {
    status: 'shipped',
    carrier: 'Royal Mail',
    tracking_number: 'RM123456789GB',
    tracking_url: 'https://track.example/RM123456789GB',
  },
  ShipmentUpdate: { status: 'delivered' },
  UserCreate: { name: 'Ann Lee', email: 'ann@example.com' },
  UserUpdate: { name: 'Ann Lee-Park' },
  ProductCreate: {
    sku: 'MUG-01',
    name: 'Mug, blue',
    category: 'kitchen',
    price: 950,
    currency: 'GBP',
    tax_rate_bps: 2000,
    stock: 40,
    status: 'active',
  },
  ProductUpdate: { price: 875 },
  ProductReplace: {
    name: 'Mug, dark blue',
    description: 'Holds 0.3 l.',
    category: 'kitchen',
    price: 875,
    tax_rate_bps: 2000,
    status: 'active',
  },
  StockAdjustmentCreate: { delta: 24, reason: 'received', note: 'Delivery note 4711' },
  DeliveryMethodReplace: { name: 'Standard delivery, 2 to 4 days', price: 425, currency: 'GBP', requires_address: true },
  ConnectedAppLimitsInput: {
    limits: { currency: 'GBP', per_order: 5000, per_period: 20_000, period: 'month' },
    products: { categories: ['bags', 'kitchen'] },
    time_zone: 'Europe/London',
  },
  ApiKeyCreate: { name: 'Nightly report', scopes: ['orders.read'] },
  ApplicationCreate: {
    name: 'Stock monitor',
    client_id: 'stock-monitor',
    type: 'confidential',
    scopes: ['orders.read'],
    grant_types: ['authorization_code', 'refresh_token'],
    redirect_uris: ['https://stock.example/callback'],
  },
  ApplicationUpdate: { name: 'Stock and orders monitor' },
  SecretRotationCreate: { overlap_seconds: 3600 },
  WebhookEndpointCreate: {
    url: 'https://shop.example/hooks',
    events: ['order.paid', 'order.canceled'],
    description: 'Notifies the warehouse',
  },
  WebhookEndpointUpdate: { events: ['*'] },
  WebhookSecretRotationCreate: { overlap_seconds: 3600 },
  RedeliveryCreate: { from_event_id: 1 },
  BrandingUpdate: { name: 'Larkspur', accent_color: '#2f6f4f', help_url: 'https://shop.example/help' },
  RegistrationTokenCreate: { expires_in: 3600 },
  IdentityProviderCreate: {
    slug: 'company',
    preset: 'oidc',
    name: 'Larkspur staff',
    issuer: 'https://login.shop.example',
    client_id: 'mandate',
    client_secret: 'CLIENT-SECRET-OF-THE-PROVIDER',
    audience: 'staff',
    email_domain: 'shop.example',
  },
  IdentityProviderUpdate: { status: 'disabled' },
};

/** Example files, by operation and media type. */
export const exampleFilesByOperation: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'orderImports.create': {
    'text/csv':
      'reference,created_at,status,currency,customer_email,customer_name,sku,name,quantity,unit_price\n2019-0001,2019-05-04T10:00:00Z,delivered,GBP,ann@example.com,Ann Lee,22371,Airline bag vintage Tokyo 78,2,4.25\n',
    'application/x-ndjson':
      '{"reference":"2019-0001","created_at":"2019-05-04T10:00:00Z","status":"delivered","currency":"GBP","customer_email":"ann@example.com","customer_name":"Ann Lee","sku":"22371","name":"Airline bag vintage Tokyo 78","quantity":2,"unit_price":"4.25"}\n',
  },
  'productImports.create': {
    'text/csv': 'sku,name,category,price,currency,stock\nMUG-02,"Mug, green",kitchen,9.50,GBP,40\n',
    'application/x-ndjson': '{"sku":"MUG-02","name":"Mug, green","category":"kitchen","price":"9.50","currency":"GBP","stock":40}\n',
  },
  'userImports.create': {
    'text/csv':
      'external_id,email,name,email_verified,consented_at,password_hash\n17,bob@example.com,Bob Hill,true,2024-02-01T09:00:00Z,$2b$12$GhvMmNVjRW29ulnudl.LbuAnUtN/LRfe1JsBm1Xu6LE3059z5Tr8m\n',
    'application/x-ndjson':
      '{"external_id":"17","email":"bob@example.com","name":"Bob Hill","email_verified":true,"consented_at":"2024-02-01T09:00:00Z","metadata":{"newsletter":"weekly"}}\n',
  },
  'tasks.result': {
    'text/csv': 'id,reference,status,total,currency\r\n42,PO-2026-118,pending,850,GBP\r\n',
    'application/x-ndjson': '{"id":42,"reference":"PO-2026-118","status":"pending","total":850,"currency":"GBP"}\n',
  },
};

/** Example values for path parameters. */
export const examplePathParameters: Readonly<Record<string, string | number>> = {
  user_id: 7,
  product_id: 1,
  order_id: 42,
  payment_id: 9,
  refund_id: 4,
  shipment_id: 6,
  task_id: 12,
  connected_app_id: 8,
  api_key_id: 5,
  application_id: 3,
  webhook_endpoint_id: 2,
  webhook_delivery_id: 11,
  code: 'standard',
  provider: 'stripe',
};

/** Example queries, for operations with useful query parameters. */
export const exampleQueryParametersByOperation: Readonly<Record<string, Readonly<Record<string, JsonValue>>>> = {
  'users.list': { role: ['customer'], limit: 50 },
  'products.list': { category: 'bags', sort: 'price' },
  'orders.list': { status: ['pending', 'paid'], limit: 50 },
  'orderImports.create': { source: 'old-shop', amounts: 'decimal', unknown_customers: 'create' },
  'productImports.create': { amounts: 'decimal' },
  'userImports.create': { source: 'old-shop' },
  'auditEvents.list': { outcome: 'refused' },
};
