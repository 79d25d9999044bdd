// Written by codegen/generate.ts from the OpenAPI document of the contract. Do not edit.

/** Every operation of the API in few bytes: method, path, and what else a client has to know of it. */
export const routes = {
  'versions.list': 'GET /api query paginated',
  'users.me': 'GET /api/v1/users/me',
  'users.get': 'GET /api/v1/users/{}',
  'users.update': 'PATCH /api/v1/users/{} json',
  'users.close': 'DELETE /api/v1/users/{}',
  'users.create': 'POST /api/v1/users json idempotent',
  'users.list': 'GET /api/v1/users query paginated',
  'products.list': 'GET /api/v1/products query paginated',
  'products.create': 'POST /api/v1/products json idempotent',
  'products.get': 'GET /api/v1/products/{}',
  'products.update': 'PATCH /api/v1/products/{} json',
  'products.replace': 'PUT /api/v1/products/{} json',
  'products.delete': 'DELETE /api/v1/products/{}',
  'products.adjustStock': 'POST /api/v1/products/{}/stock-adjustments json idempotent',
  'products.listStockAdjustments': 'GET /api/v1/products/{}/stock-adjustments query paginated',
  'productCategories.list': 'GET /api/v1/product-categories query paginated',
  'deliveryMethods.list': 'GET /api/v1/delivery-methods query paginated',
  'deliveryMethods.get': 'GET /api/v1/delivery-methods/{}',
  'deliveryMethods.replace': 'PUT /api/v1/delivery-methods/{} json',
  'deliveryMethods.delete': 'DELETE /api/v1/delivery-methods/{}',
  'orders.create': 'POST /api/v1/orders json dry idempotent',
  'orders.list': 'GET /api/v1/orders query paginated',
  'orders.get': 'GET /api/v1/orders/{}',
  'orders.update': 'PATCH /api/v1/orders/{} json',
  'orders.cancel': 'POST /api/v1/orders/{}/cancellation json dry idempotent',
  'payments.create': 'POST /api/v1/orders/{}/payments json idempotent',
  'payments.list': 'GET /api/v1/orders/{}/payments query paginated',
  'payments.listAll': 'GET /api/v1/payments query paginated',
  'payments.get': 'GET /api/v1/payments/{}',
  'payments.cancel': 'POST /api/v1/payments/{}/cancellation idempotent',
  'payments.confirm': 'POST /api/v1/payments/{}/confirmation idempotent',
  'refunds.create': 'POST /api/v1/orders/{}/refunds json dry idempotent',
  'refunds.list': 'GET /api/v1/orders/{}/refunds query paginated',
  'refunds.listAll': 'GET /api/v1/refunds query paginated',
  'refunds.get': 'GET /api/v1/refunds/{}',
  'refunds.confirm': 'POST /api/v1/refunds/{}/confirmation idempotent',
  'shipments.create': 'POST /api/v1/orders/{}/shipments json dry idempotent',
  'shipments.list': 'GET /api/v1/orders/{}/shipments query paginated',
  'shipments.listAll': 'GET /api/v1/shipments query paginated',
  'shipments.get': 'GET /api/v1/shipments/{}',
  'shipments.update': 'PATCH /api/v1/shipments/{} json',
  'orderExports.create': 'POST /api/v1/order-exports json idempotent',
  'orderImports.create': 'POST /api/v1/order-imports file query idempotent',
  'productImports.create': 'POST /api/v1/product-imports file query idempotent',
  'tasks.list': 'GET /api/v1/tasks query paginated',
  'tasks.get': 'GET /api/v1/tasks/{}',
  'tasks.result': 'GET /api/v1/tasks/{}/result download',
  'tasks.cancel': 'POST /api/v1/tasks/{}/cancellation idempotent',
  'events.list': 'GET /api/v1/events query',
  'events.get': 'GET /api/v1/events/{}',
  'webhooks.list': 'GET /api/v1/webhook-endpoints query paginated',
  'webhooks.create': 'POST /api/v1/webhook-endpoints json idempotent',
  'webhooks.get': 'GET /api/v1/webhook-endpoints/{}',
  'webhooks.update': 'PATCH /api/v1/webhook-endpoints/{} json',
  'webhooks.delete': 'DELETE /api/v1/webhook-endpoints/{}',
  'webhooks.rotateSecret': 'POST /api/v1/webhook-endpoints/{}/secret-rotations json idempotent',
  'webhooks.deliveries': 'GET /api/v1/webhook-endpoints/{}/deliveries query paginated',
  'webhooks.redeliver': 'POST /api/v1/webhook-endpoints/{}/redeliveries json idempotent',
  'webhooks.test': 'POST /api/v1/webhook-endpoints/{}/test-events idempotent',
  'connectedApps.list': 'GET /api/v1/connected-apps query paginated',
  'connectedApps.remove': 'DELETE /api/v1/connected-apps/{} query',
  'apiKeys.list': 'GET /api/v1/api-keys query paginated',
  'apiKeys.create': 'POST /api/v1/api-keys json idempotent',
  'apiKeys.revoke': 'DELETE /api/v1/api-keys/{}',
  'applications.list': 'GET /api/v1/applications query paginated',
  'applications.create': 'POST /api/v1/applications json idempotent',
  'applications.get': 'GET /api/v1/applications/{}',
  'applications.update': 'PATCH /api/v1/applications/{} json',
  'applications.delete': 'DELETE /api/v1/applications/{}',
  'applications.rotateSecret': 'POST /api/v1/applications/{}/secret-rotations json idempotent',
  'applications.createRegistrationToken': 'POST /api/v1/registration-tokens json idempotent',
  'auditEvents.list': 'GET /api/v1/audit-events query paginated',
  'usage.get': 'GET /api/v1/usage',
  'signingKeys.rotate': 'POST /api/v1/signing-key-rotations json idempotent',
} as const;

/** Any one of its scopes lets a token in to an operation; without any, no scope is asked for. */
export const scopesOf = {
  'versions.list': [],
  'users.me': ["users.read","users.manage"],
  'users.get': ["users.read","users.manage"],
  'users.update': ["users.write","users.manage","users.administer"],
  'users.close': ["users.write","users.manage","users.administer"],
  'users.create': ["users.manage"],
  'users.list': ["users.manage"],
  'products.list': [],
  'products.create': ["products.write"],
  'products.get': [],
  'products.update': ["products.write"],
  'products.replace': ["products.write"],
  'products.delete': ["products.write"],
  'products.adjustStock': ["products.write"],
  'products.listStockAdjustments': ["products.write"],
  'productCategories.list': [],
  'deliveryMethods.list': [],
  'deliveryMethods.get': [],
  'deliveryMethods.replace': ["settings.write"],
  'deliveryMethods.delete': ["settings.write"],
  'orders.create': ["orders.write","orders.manage"],
  'orders.list': ["orders.read","orders.manage"],
  'orders.get': ["orders.read","orders.manage"],
  'orders.update': ["orders.write","orders.manage"],
  'orders.cancel': ["orders.write","orders.manage"],
  'payments.create': ["payments.write","payments.manage"],
  'payments.list': ["payments.read","payments.manage"],
  'payments.listAll': ["payments.read","payments.manage"],
  'payments.get': ["payments.read","payments.manage"],
  'payments.cancel': ["payments.write","payments.manage"],
  'payments.confirm': ["payments.manage"],
  'refunds.create': ["refunds.write"],
  'refunds.list': ["payments.read","payments.manage"],
  'refunds.listAll': ["payments.read","payments.manage"],
  'refunds.get': ["payments.read","payments.manage"],
  'refunds.confirm': ["refunds.write"],
  'shipments.create': ["shipments.write"],
  'shipments.list': ["orders.read","orders.manage","shipments.write"],
  'shipments.listAll': ["orders.read","orders.manage","shipments.write"],
  'shipments.get': ["orders.read","orders.manage","shipments.write"],
  'shipments.update': ["shipments.write"],
  'orderExports.create': ["tasks.write"],
  'orderImports.create': ["tasks.write"],
  'productImports.create': ["tasks.write"],
  'tasks.list': ["tasks.read"],
  'tasks.get': ["tasks.read"],
  'tasks.result': ["tasks.read"],
  'tasks.cancel': ["tasks.write"],
  'events.list': ["events.read"],
  'events.get': ["events.read"],
  'webhooks.list': ["webhooks.read"],
  'webhooks.create': ["webhooks.write"],
  'webhooks.get': ["webhooks.read"],
  'webhooks.update': ["webhooks.write"],
  'webhooks.delete': ["webhooks.write"],
  'webhooks.rotateSecret': ["webhooks.write"],
  'webhooks.deliveries': ["webhooks.read"],
  'webhooks.redeliver': ["webhooks.write"],
  'webhooks.test': ["webhooks.write"],
  'connectedApps.list': ["connected_apps.read"],
  'connectedApps.remove': ["connected_apps.write"],
  'apiKeys.list': ["api_keys.manage"],
  'apiKeys.create': ["api_keys.manage"],
  'apiKeys.revoke': ["api_keys.manage"],
  'applications.list': ["applications.manage"],
  'applications.create': ["applications.manage"],
  'applications.get': ["applications.manage"],
  'applications.update': ["applications.manage"],
  'applications.delete': ["applications.manage"],
  'applications.rotateSecret': ["applications.manage"],
  'applications.createRegistrationToken': ["applications.manage"],
  'auditEvents.list': ["audit.read"],
  'usage.get': [],
  'signingKeys.rotate': ["signing_keys.manage"],
} as const;

/** The codes each operation can fail with, and the status of each. */
export type ProblemsOf = {
  'versions.list': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'users.me': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'users.get': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'users.update': {"invalid_request":400,"malformed_json":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_user_authentication":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"email_taken":409,"invalid_transition":409,"last_administrator":409,"precondition_failed":412,"payload_too_large":413,"unsupported_media_type":415,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'users.close': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_user_authentication":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"open_orders":409,"last_administrator":409,"invalid_transition":409,"precondition_failed":412,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'users.create': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"idempotency_in_progress":409,"email_taken":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'users.list': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'products.list': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"forbidden":403,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'products.create': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"idempotency_in_progress":409,"sku_taken":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'products.get': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'products.update': {"invalid_request":400,"malformed_json":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"invalid_transition":409,"precondition_failed":412,"payload_too_large":413,"unsupported_media_type":415,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'products.replace': {"invalid_request":400,"malformed_json":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"invalid_transition":409,"precondition_failed":412,"payload_too_large":413,"unsupported_media_type":415,"precondition_required":428,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'products.delete': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"product_in_use":409,"precondition_failed":412,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'products.adjustStock': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"idempotency_in_progress":409,"insufficient_stock":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'products.listStockAdjustments': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'productCategories.list': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"forbidden":403,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'deliveryMethods.list': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'deliveryMethods.get': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'deliveryMethods.replace': {"invalid_request":400,"malformed_json":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"precondition_failed":412,"payload_too_large":413,"unsupported_media_type":415,"precondition_required":428,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'deliveryMethods.delete': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"precondition_failed":412,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'orders.create': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"idempotency_in_progress":409,"out_of_stock":409,"price_changed":409,"product_unavailable":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'orders.list': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'orders.get': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'orders.update': {"invalid_request":400,"malformed_json":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"invalid_transition":409,"price_changed":409,"precondition_failed":412,"payload_too_large":413,"unsupported_media_type":415,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'orders.cancel': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"idempotency_in_progress":409,"invalid_transition":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'payments.create': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"idempotency_in_progress":409,"payment_in_progress":409,"already_paid":409,"invalid_transition":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'payments.list': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'payments.listAll': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'payments.get': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'payments.cancel': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"idempotency_in_progress":409,"invalid_transition":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'payments.confirm': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"idempotency_in_progress":409,"invalid_transition":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'refunds.create': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"idempotency_in_progress":409,"invalid_transition":409,"refund_exceeds_payment":409,"quantity_exceeded":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'refunds.list': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'refunds.listAll': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'refunds.get': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'refunds.confirm': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"idempotency_in_progress":409,"invalid_transition":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'shipments.create': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"idempotency_in_progress":409,"invalid_transition":409,"quantity_exceeded":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'shipments.list': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'shipments.listAll': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'shipments.get': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'shipments.update': {"invalid_request":400,"malformed_json":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"invalid_transition":409,"precondition_failed":412,"payload_too_large":413,"unsupported_media_type":415,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'orderExports.create': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"idempotency_in_progress":409,"too_many_tasks":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'orderImports.create': {"invalid_request":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"idempotency_in_progress":409,"too_many_tasks":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'productImports.create': {"invalid_request":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"idempotency_in_progress":409,"too_many_tasks":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'tasks.list': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'tasks.get': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"not_found":404,"not_acceptable":406,"gone":410,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'tasks.result': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"not_found":404,"not_acceptable":406,"task_not_finished":409,"gone":410,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'tasks.cancel': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"not_found":404,"not_acceptable":406,"idempotency_in_progress":409,"invalid_transition":409,"gone":410,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'events.list': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"not_acceptable":406,"gone":410,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'events.get': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'webhooks.list': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'webhooks.create': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"not_acceptable":406,"idempotency_in_progress":409,"too_many_webhook_endpoints":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'webhooks.get': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'webhooks.update': {"invalid_request":400,"malformed_json":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"not_found":404,"not_acceptable":406,"precondition_failed":412,"payload_too_large":413,"unsupported_media_type":415,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'webhooks.delete': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"not_found":404,"not_acceptable":406,"precondition_failed":412,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'webhooks.rotateSecret': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"not_found":404,"not_acceptable":406,"idempotency_in_progress":409,"secret_still_overlaps":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'webhooks.deliveries': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'webhooks.redeliver': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"not_found":404,"not_acceptable":406,"idempotency_in_progress":409,"webhook_endpoint_disabled":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'webhooks.test': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"not_found":404,"not_acceptable":406,"idempotency_in_progress":409,"webhook_endpoint_disabled":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'connectedApps.list': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'connectedApps.remove': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'apiKeys.list': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'apiKeys.create': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_user_authentication":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"idempotency_in_progress":409,"too_many_api_keys":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'apiKeys.revoke': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'applications.list': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'applications.create': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"idempotency_in_progress":409,"client_id_taken":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'applications.get': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'applications.update': {"invalid_request":400,"malformed_json":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"payload_too_large":413,"unsupported_media_type":415,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'applications.delete': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'applications.rotateSecret': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"idempotency_in_progress":409,"application_has_no_secret":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'applications.createRegistrationToken': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"idempotency_in_progress":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'auditEvents.list': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'usage.get': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'signingKeys.rotate': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"idempotency_in_progress":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
};
