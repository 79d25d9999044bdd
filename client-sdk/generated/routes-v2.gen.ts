// Written by codegen/generate.ts from the OpenAPI document of the contract. Do not edit.

/** Every operation of the API in few bytes: method, path, and what else a client has to know of it. */
export const routes = {
  'orders.create': 'POST /api/v2/orders json dry idempotent',
  'orders.list': 'GET /api/v2/orders query paginated',
  'orders.get': 'GET /api/v2/orders/{}',
  'orders.update': 'PATCH /api/v2/orders/{} json',
  'orders.cancel': 'POST /api/v2/orders/{}/cancellation json dry idempotent',
} as const;

/** Any one of its scopes lets a token in to an operation; without any, no scope is asked for. */
export const scopesOf = {
  'orders.create': ["orders.write","orders.manage"],
  'orders.list': ["orders.read","orders.manage"],
  'orders.get': ["orders.read","orders.manage"],
  'orders.update': ["orders.write","orders.manage"],
  'orders.cancel': ["orders.write","orders.manage"],
} as const;

/** The codes each operation can fail with, and the status of each. */
export type ProblemsOf = {
  'orders.create': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"idempotency_in_progress":409,"out_of_stock":409,"price_changed":409,"product_unavailable":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'orders.list': {"invalid_request":400,"invalid_cursor":400,"cursor_mismatch":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'orders.get': {"invalid_request":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'orders.update': {"invalid_request":400,"malformed_json":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"invalid_transition":409,"price_changed":409,"precondition_failed":412,"payload_too_large":413,"unsupported_media_type":415,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
  'orders.cancel': {"invalid_request":400,"malformed_json":400,"idempotency_key_invalid":400,"invalid_token":401,"expired_token":401,"revoked_token":401,"missing_token":401,"insufficient_scope":403,"forbidden":403,"not_found":404,"not_acceptable":406,"idempotency_in_progress":409,"invalid_transition":409,"payload_too_large":413,"unsupported_media_type":415,"idempotency_key_reused":422,"rate_limited":429,"quota_exceeded":429,"internal_error":500,"unavailable":503,"insufficient_storage":503};
};
