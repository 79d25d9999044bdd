import type { ProblemCode } from '@mandate/contract';

/** Cause of a problem and how to fix it. Text between backquotes is shown as code. */
export type ProblemText = { readonly cause: string; readonly fix: string };

/** Texts for every problem code in the contract. A missing code causes a compile error. */
export const problemPageTexts: Readonly<Record<ProblemCode, ProblemText>> = {
  invalid_request: {
    cause: 'The body, query, path or headers do not match the OpenAPI declaration of the operation.',
    fix: 'Check `errors`: each entry contains the location (`pointer` in the body, otherwise `parameter`), the kind of error (`code`) and what would be accepted. The response reports all errors at once. Unknown fields and parameters are rejected as well, so check for misspelled names.',
  },
  malformed_json: {
    cause:
      'The body is not a valid JSON object: it is truncated, not UTF-8, nested deeper than 32 levels, or a JSON value other than an object.',
    fix: 'Serialize the body with a JSON library, in UTF-8, with an object at the top level.',
  },
  invalid_cursor: {
    cause: '`cursor` was not issued by this service.',
    fix: 'Send `next_cursor` exactly as the previous page returned it. Cursors cannot be constructed or changed. If the cursor is old, start again without a cursor.',
  },
  cursor_mismatch: {
    cause: '`cursor` belongs to a different list: the filters, the sort order or the caller have changed.',
    fix: 'Use the same filters and sort order for all pages; only `limit` may change. Start a new list without a cursor.',
  },
  idempotency_key_invalid: {
    cause: 'The `Idempotency-Key` contains invalid characters or is too long.',
    fix: 'Send 1 to 255 characters from `A-Z a-z 0-9 . _ : -`, for example a random UUID.',
  },
  missing_token: {
    cause: 'The operation requires an access token, but the request contains none.',
    fix: 'Send `Authorization: Bearer <token>`. Tokens in the query or in a form are ignored. The `WWW-Authenticate` header and the API reference describe how to get a token.',
  },
  invalid_token: {
    cause: 'The token was not issued for this API, was modified, or was sent without its DPoP proof or client certificate.',
    fix: 'Send the access token exactly as the token endpoint returned it, not the ID token or the refresh token. A token that is bound to a key (DPoP) requires a new proof for every request. A token that is bound to a client certificate requires this certificate for every request.',
  },
  expired_token: {
    cause: 'The token has expired. Access tokens are valid for five minutes.',
    fix: 'Get a new token with the refresh token or the client credentials grant, and repeat the request.',
  },
  revoked_token: {
    cause: 'Access was revoked by the user or an administrator, or because a refresh token was reused.',
    fix: 'Ask the user for permission again. For an application without a user, contact an administrator.',
  },
  insufficient_user_authentication: {
    cause:
      'The operation requires a user who signed in within the last 15 minutes, and some operations require a second factor. The token does not act on behalf of a user, or the sign-in for which it was issued is too old. Refreshing a token does not renew the sign-in.',
    fix: 'Have the user sign in again: start a new authorization request with the `max_age` and any `acr_values` from the `WWW-Authenticate` header (RFC 9470), and repeat the request with the new token. In the CLI: `mandate login --force`. API keys, and applications that act on their own behalf, cannot perform the operation.',
  },
  insufficient_scope: {
    cause: 'The token lacks a scope that the operation requires.',
    fix: 'The `WWW-Authenticate` header contains the missing scope. Request this scope in the next authorization request. An administrator may have to allow it for your application first.',
  },
  forbidden: {
    cause:
      'The token is valid, but the caller lacks permission: some operations require a staff or administrator account, and some require a token that acts on behalf of a user.',
    fix: 'Use an account with the required role, or ask an administrator for the role.',
  },
  limit_exceeded: {
    cause: 'The customer limited how much the application may spend, and the order exceeds this limit. Nothing was ordered or paid.',
    fix: 'Check `errors`: the entry contains the limit, the amount already spent in the period, the requested amount and the amount that remains. Lower the total, wait for the next period, or ask the customer to change the limits on the `/account/apps` page. If `approvable` is true, you can request approval from the customer: create a quote (`POST /api/v1/quotes`), send its ID to `POST /api/v1/approvals`, wait with `GET /api/v1/approvals/{approval_id}?wait=30` until the customer has approved the order, and send `quote_id` to `POST /api/v1/orders`. If the entry contains an `approval_id`, approval of this quote was already requested, and the request is pending, was declined or has expired. To check the limits before you order, call `GET /api/v1/authorization`.',
  },
  not_found: {
    cause:
      "The resource does not exist, or it belongs to another user. The response is the same in both cases, so that it does not reveal other users' resources.",
    fix: 'Check the identifier, and which user the token belongs to.',
  },
  route_not_found: {
    cause: 'The service has no such path. Paths are case-sensitive and have no trailing slash.',
    fix: 'Compare the path with `/openapi.json` or the API reference.',
  },
  method_not_allowed: {
    cause: 'The path exists, but does not support this method.',
    fix: 'Use one of the methods in the `Allow` header.',
  },
  not_acceptable: {
    cause: 'The `Accept` header excludes all media types of the response.',
    fix: 'Accept `application/json`, or omit the header.',
  },
  request_timeout: {
    cause: 'The request did not arrive completely within the time limit, and was not processed.',
    fix: 'Send the request again. If this happens on a slow connection, send less data per request.',
  },
  idempotency_in_progress: {
    cause: 'The first request with the same `Idempotency-Key` is still being processed.',
    fix: 'Wait as long as `Retry-After` specifies, then send the same request again. You will then get the response to the first request.',
  },
  conflict: {
    cause: 'The request conflicts with the current state of the resource.',
    fix: 'Read the resource again, and decide whether the request still makes sense.',
  },
  invalid_transition: {
    cause:
      'The current state of the resource does not allow this operation. For example, a canceled order cannot be paid for, and a delivered parcel cannot be shipped.',
    fix: 'Read the resource again. Its `status` determines what is possible; the API reference describes the transitions.',
  },
  version_retired: {
    cause: 'This version of the API, or this operation, has reached its announced sunset date.',
    fix: 'Move to a current version. `GET /api` lists all versions, and the `Link` header points to the migration guide.',
  },
  precondition_failed: {
    cause: 'The resource has changed since you read it, so your change, which was based on the older version, was not made.',
    fix: 'Read the resource again, decide whether you still want the change, and send it with the new `ETag` in `If-Match`.',
  },
  payload_too_large: {
    cause: 'The body is larger than the operation allows.',
    fix: 'The limit is 100 kB, or 1 MB for orders. Split larger requests. Import files have no size limit.',
  },
  uri_too_long: {
    cause: 'The URL is longer than 8,000 characters.',
    fix: 'Use fewer filters per request.',
  },
  unsupported_media_type: {
    cause: 'The operation does not support the media type, encoding or character set of the body.',
    fix: 'Send `Content-Type: application/json` in UTF-8. Changes can also use `application/merge-patch+json`, and imports require the media type of the file.',
  },
  idempotency_key_reused: {
    cause: 'The `Idempotency-Key` was used for a different request in the last 24 hours.',
    fix: 'Generate a new key for every new operation, and reuse it only to retry the same request.',
  },
  precondition_required: {
    cause: 'The operation replaces the whole resource, so the request must specify the version that it replaces.',
    fix: 'Read the resource, and send its `ETag` in `If-Match`.',
  },
  rate_limited: {
    cause: 'You exceeded the rate limit. The request was not processed.',
    fix: 'Wait as long as `Retry-After` specifies. The `RateLimit` header of every response shows the remaining requests, so that you can slow down earlier. If the limit is too low, an administrator can raise it for your application.',
  },
  quota_exceeded: {
    cause: 'Your application has used its quota for this calendar month. The request was not processed.',
    fix: 'The quota is reset at the beginning of the next month in UTC. `GET /api/v1/usage` shows the usage; an administrator can raise the quota.',
  },
  headers_too_large: {
    cause: 'The headers are larger than 16 kB.',
    fix: 'Find out which header is large. Usually, it is the `Cookie` header, which this API does not use.',
  },
  internal_error: {
    cause: 'The service failed unexpectedly. The request was not processed.',
    fix: 'Try again. If the error persists, report the `request_id` to support; it identifies the failure in the log.',
  },
  unavailable: {
    cause: 'The service is temporarily unavailable: it is overloaded, or its database is unreachable.',
    fix: 'Wait as long as `Retry-After` specifies, and send the request again. If you use the same `Idempotency-Key`, it will not be processed twice.',
  },
  insufficient_storage: {
    cause: 'The server does not have enough disk space to save changes, so nothing was changed. Read requests still work.',
    fix: 'Wait as long as `Retry-After` specifies, and send the request again. If you use the same `Idempotency-Key`, it will not be processed twice. If you run the server, free disk space: writes then continue without a restart.',
  },
  email_taken: {
    cause: 'There is already an account with this e-mail address.',
    fix: 'Find the account with `GET /api/v1/users?email=...`, or use a different address.',
  },
  open_orders: {
    cause: 'The account still has open orders.',
    fix: 'Complete or cancel its orders, then close the account.',
  },
  last_administrator: {
    cause: 'The shop would be left without an administrator.',
    fix: 'Make another user an administrator first.',
  },
  sku_taken: {
    cause: 'Another product already has this SKU.',
    fix: 'Choose a different SKU, or change the SKU of the other product.',
  },
  insufficient_stock: {
    cause: 'The adjustment would make the stock negative.',
    fix: 'Read the stock again: units may have been sold in the meantime.',
  },
  product_in_use: {
    cause: 'The product is part of existing orders, which must remain readable.',
    fix: 'Archive the product instead: change its `status` with `PATCH`. An archived product is no longer for sale.',
  },
  out_of_stock: {
    cause: 'The order asks for more units than are in stock. Nothing was reserved.',
    fix: 'Each entry in `errors` names a product and the numbers of requested and available units. Order fewer units, or try again later.',
  },
  price_changed: {
    cause: 'The total in the request is no longer the current total, or a price has changed since the quote was created.',
    fix: 'Show the new total to the customer (`actual` in `errors`), and place the order again if they agree. For an order from a quote, create a new quote first.',
  },
  product_unavailable: {
    cause: 'A product in the order is currently not for sale.',
    fix: '`errors` identifies the product. Remove it from the order.',
  },
  quote_not_open: {
    cause: 'The quote has expired, was canceled, or was already converted into an order.',
    fix: 'The `code` of the entry in `errors` is `expired`, `canceled` or `converted`. Create a new quote, unless the order that was placed from this quote is the one you need.',
  },
  too_many_tasks: {
    cause: 'You have reached the maximum number of concurrent exports and imports.',
    fix: 'Wait until one is finished, or cancel one.',
  },
  task_not_finished: {
    cause: 'The task has no result yet.',
    fix: 'Poll the task at the interval that `Retry-After` specifies until its `status` shows that it is finished.',
  },
  backups_not_configured: {
    cause: 'The operator has not configured a directory for backups.',
    fix: 'Create a directory that only the server can access, set `MANDATE_BACKUP_DIR` to its path, and restart the server. Even without this directory, you can create a backup with `mandate-server backup FILE`.',
  },
  gone: {
    cause: 'The resource existed, but has been deleted.',
    fix: 'If you still need it, repeat the request that created it.',
  },
  payment_in_progress: {
    cause: 'A payment for this order is in progress, and a second one could charge the customer twice.',
    fix: 'Wait until the payment is completed, or cancel it.',
  },
  already_paid: {
    cause: 'The order is already fully paid.',
    fix: 'Read the order, which lists its payments.',
  },
  invalid_signature: {
    cause: 'The notification is not signed by the provider, or the signature is too old.',
    fix: 'Compare the signing secret of the webhook endpoint with the one that is configured on the server, and check the clocks of both systems.',
  },
  refund_exceeds_payment: {
    cause: 'The refund exceeds the amount that was paid and not yet refunded.',
    fix: 'Read the refunds of the order, and refund at most the remaining amount.',
  },
  quantity_exceeded: {
    cause: 'The request specifies more units than the order has left to ship or to return.',
    fix: 'Read the order and its shipments, and specify at most the remaining units.',
  },
  too_many_approvals: {
    cause: 'The application has reached the maximum number of pending approvals, or has requested too many approvals in the last 24 hours.',
    fix: 'Wait until the customer has decided, or cancel requests that are no longer needed. `GET /api/v1/approvals?status=pending` lists them.',
  },
  too_many_api_keys: {
    cause: 'You have reached the maximum number of API keys.',
    fix: 'Revoke API keys that you no longer use.',
  },
  client_id_taken: {
    cause: 'Another application already has this client ID.',
    fix: 'Choose a different client ID, or omit the field to have an ID generated.',
  },
  application_has_no_secret: {
    cause: 'The application is public: it runs on user devices, where a secret cannot be protected, so it has no secret to rotate.',
    fix: 'Register a confidential application if you need a secret.',
  },
  too_many_webhook_endpoints: {
    cause: 'You have reached the maximum number of webhook endpoints.',
    fix: 'Delete an endpoint that you no longer need. One endpoint can receive events of all types.',
  },
  webhook_endpoint_disabled: {
    cause: 'The webhook endpoint is disabled, so nothing is sent to it.',
    fix: 'Enable it with `PATCH` and `{"status": "enabled"}`, then repeat the request.',
  },
  secret_still_overlaps: {
    cause: 'Deliveries are still signed with the previous secret, and there can be at most two secrets.',
    fix: 'Wait until the previous secret expires, or rotate with `overlap_seconds: 0`, which invalidates all other secrets immediately.',
  },
};
