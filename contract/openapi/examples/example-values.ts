import type { JsonObject } from '../../schema/json.ts';

const placedAt = '2026-11-20T09:30:00.000Z';
const paidAt = '2026-11-20T09:31:12.480Z';
const tomorrow = '2026-11-21T09:30:00.000Z';

const times = { created_at: placedAt, updated_at: placedAt };

/** A product from the sample data that the server creates on its first start, so that the example requests work unchanged. */
const bag = { product_id: 1, sku: '22371', name: 'Airline bag vintage Tokyo 78', unit_price: 425 };

const delivery = { method: 'collection', recipient_name: 'Ann Lee' };

const orderSummary = {
  id: 42,
  user_id: 7,
  client_id: 'mandate-cli',
  status: 'pending',
  payment_status: 'unpaid',
  fulfillment_status: 'unfulfilled',
  cancel_reason: null,
  currency: 'GBP',
  tax_mode: 'inclusive',
  subtotal: 850,
  discount_total: 0,
  shipping_total: 0,
  tax_total: 142,
  total: 850,
  refunded_total: 0,
  item_count: 1,
  delivery,
  reference: 'PO-2026-118',
  note: null,
  metadata: {},
  version: 1,
  expires_at: '2026-11-20T10:00:00.000Z',
  ...times,
  paid_at: null,
  shipped_at: null,
  delivered_at: null,
  canceled_at: null,
};

const order = {
  ...orderSummary,
  items: [{ line: 1, ...bag, quantity: 2, shipped_quantity: 0, restocked_quantity: 0, tax_rate_bps: 2000, tax: 142, total: 850 }],
};

const taskResult = {
  format: 'csv',
  rows: 118,
  bytes: 20_480,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  imported: null,
  expires_at: '2026-11-27T09:30:04.000Z',
};

const task = {
  id: 12,
  type: 'order_export',
  status: 'succeeded',
  params: { format: 'csv', rows: 'orders', status: ['paid'] },
  progress: { processed: 118, total: 118 },
  result: taskResult,
  error: null,
  imported: null,
  user_id: 7,
  client_id: 'mandate-cli',
  created_at: placedAt,
  started_at: '2026-11-20T09:30:01.000Z',
  finished_at: '2026-11-20T09:30:04.000Z',
};

const application = {
  id: 3,
  client_id: 'stock-monitor',
  name: 'Stock monitor',
  type: 'confidential',
  logo_uri: null,
  redirect_uris: ['https://stock.example/callback'],
  post_logout_redirect_uris: [],
  backchannel_logout_uri: null,
  scopes: ['orders.read'],
  preapproved_scopes: [],
  grant_types: ['authorization_code', 'refresh_token'],
  status: 'active',
  first_party: false,
  token_endpoint_auth_method: 'client_secret_basic',
  jwks: null,
  jwks_uri: null,
  security_profile: null,
  id_token_signed_response_alg: 'RS256',
  version: 1,
  ...times,
};

const apiKey = {
  id: 5,
  name: 'Nightly report',
  prefix: 'mandate_k_4f7a',
  scopes: ['orders.read'],
  status: 'active',
  created_by_client_id: 'mandate-cli',
  created_at: placedAt,
  expires_at: '2027-02-18T09:30:00.000Z',
  last_used_at: null,
};

const branding = {
  name: 'Larkspur',
  accent_color: '#2f6f4f',
  colors: {
    light: { button: '#2f6f4f', button_text: '#ffffff', link: '#2f6f4f' },
    dark: { button: '#397658', button_text: '#ffffff', link: '#8db09e' },
  },
  logo: {
    url: 'https://shop.example/assets/logo-9f86d081884c7d659a2feaa0c55ad015.png',
    media_type: 'image/png',
    width: 256,
    height: 256,
  },
  help_url: 'https://shop.example/help',
  terms_url: 'https://shop.example/terms',
  privacy_url: 'https://shop.example/privacy',
  email_sender_name: 'Larkspur',
  email_footer: 'Larkspur Ltd, 12 Market Street, Bath',
  version: 2,
};

const webhookEndpoint = {
  id: 2,
  url: 'https://shop.example/hooks',
  events: ['order.paid', 'order.canceled'],
  description: 'Notifies the warehouse',
  status: 'enabled',
  disabled_reason: null,
  client_id: 'mandate-cli',
  user_id: 7,
  scopes: ['orders.read'],
  failing_since: null,
  version: 1,
  ...times,
};

/** Examples for named schemas whose fields have to be consistent. Examples for other schemas are generated field by field. */
export const examplesBySchemaName: Readonly<Record<string, JsonObject>> = {
  Order: order,
  OrderSummary: orderSummary,
  Task: task,
  TaskResult: taskResult,
  Application: application,
  ApplicationWithSecret: { ...application, client_secret: 'THE-SECRET-IS-SHOWN-ONCE' },
  ApiKey: apiKey,
  ApiKeyWithSecret: { ...apiKey, key: 'mandate_k_4f7a-THE-KEY-IS-SHOWN-ONCE' },
  WebhookEndpoint: webhookEndpoint,
  WebhookEndpointWithSecret: { ...webhookEndpoint, secret: 'whsec_THE-SECRET-IS-SHOWN-ONCE' },
  WebhookAttempt: { at: paidAt, milliseconds: 84, status_code: 204, error: null },
  Delivery: delivery,
  User: { id: 7, name: 'Ann Lee', email: 'ann@example.com', status: 'active', role: 'customer', version: 1, ...times },
  Branding: branding,
  Product: {
    id: 1,
    sku: bag.sku,
    name: bag.name,
    description: '',
    category: 'bags',
    price: 425,
    currency: 'GBP',
    tax_rate_bps: 2000,
    stock: 80,
    status: 'active',
    metadata: {},
    version: 1,
    ...times,
  },
  Payment: {
    id: 9,
    order_id: 42,
    attempt: 1,
    provider: 'manual',
    status: 'succeeded',
    amount: 850,
    currency: 'GBP',
    refunded_total: 0,
    refunded_amount: 0,
    provider_reference: null,
    next_action: null,
    failure_code: null,
    failure_message: null,
    version: 2,
    created_at: placedAt,
    updated_at: paidAt,
    succeeded_at: paidAt,
  },
  Refund: {
    id: 4,
    order_id: 42,
    payment_id: 9,
    status: 'succeeded',
    amount: 425,
    currency: 'GBP',
    reason: 'requested_by_customer',
    note: null,
    restock: [{ line: 1, quantity: 1 }],
    failure_code: null,
    version: 1,
    ...times,
  },
  Shipment: {
    id: 6,
    order_id: 42,
    status: 'shipped',
    carrier: 'Royal Mail',
    tracking_number: 'RM123456789GB',
    tracking_url: 'https://track.example/RM123456789GB',
    items: [{ line: 1, quantity: 2 }],
    version: 1,
    ...times,
    shipped_at: tomorrow,
    delivered_at: null,
  },
  Event: {
    id: 1018,
    type: 'order.paid',
    api_version: 'v1',
    timestamp: paidAt,
    user_id: 7,
    subject: { type: 'order', id: 42, version: 2 },
    data: {
      object: { ...order, status: 'paid', payment_status: 'paid', version: 2, expires_at: null, paid_at: paidAt, updated_at: paidAt },
    },
  },
  AuditEvent: {
    id: 77,
    occurred_at: placedAt,
    action: 'api_key.created',
    outcome: 'success',
    actor_id: 7,
    user_id: 7,
    client_id: 'mandate-cli',
    subject: 'api_key:5',
    ip: '192.0.2.7',
    user_agent: 'mandate/0.1.0',
    details: {},
  },
};
