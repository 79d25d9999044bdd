import type { ProblemCode } from '@mandate/contract';

/** What happened, and how to mend it. What stands between backquotes is shown as code. */
export type ProblemWords = { readonly happened: string; readonly mend: string };

/** One for every code of the contract: without it this does not compile. */
export const problemWords: Readonly<Record<ProblemCode, ProblemWords>> = {
  invalid_request: {
    happened: 'Something in the body, the query, the path or a header is not as the operation declares it.',
    mend: 'Go through `errors`: each entry says where it is (`pointer` in the body, else `parameter`), what is wrong with it (`code`), and what would be accepted. All of them are reported at once. Unknown fields and parameters are refused too, so look for misspelt names.',
  },
  malformed_json: {
    happened:
      'The body could not be read as a JSON object: it is broken off, is not UTF-8, is nested deeper than 32 levels, or is something other than an object.',
    mend: 'Write the body with a JSON library, in UTF-8, with an object at the top.',
  },
  invalid_cursor: {
    happened: '`cursor` is not one that this service gave out.',
    mend: 'Pass `next_cursor` on exactly as it came with the page before. Cursors are not made to be built or changed. If you kept this one for long, begin again without it.',
  },
  cursor_mismatch: {
    happened: '`cursor` was made for another list: with other filters, another sort, or for another caller.',
    mend: 'Keep filters and sort the same from page to page; only `limit` may change. Begin a new list without a cursor.',
  },
  idempotency_key_invalid: {
    happened: 'The `Idempotency-Key` has a form that is not accepted.',
    mend: 'Send 1 to 255 of the characters `A-Z a-z 0-9 . _ : -`. A random UUID does.',
  },
  missing_token: {
    happened: 'The operation needs an access token, and the request had none.',
    mend: 'Send `Authorization: Bearer <token>`. A token in the query or in a form is not looked at. How to get one stands in the `WWW-Authenticate` header, and in the API reference.',
  },
  invalid_token: {
    happened: 'The token was not issued here for this API, has been changed, or came without the proof that belongs to it.',
    mend: 'Send the access token exactly as the token endpoint gave it: not the ID token, not the refresh token. A token that is bound to a key (DPoP) needs a new proof with every request.',
  },
  expired_token: {
    happened: 'The token was good once. Access tokens live for five minutes.',
    mend: 'Get a new one with the refresh token, or by client credentials, and send the request again.',
  },
  revoked_token: {
    happened: 'The access was taken back: by the person, by an administrator, or because a refresh token was used twice.',
    mend: 'Ask the person for their permission again. An application that acts for itself asks its administrator.',
  },
  insufficient_user_authentication: {
    happened:
      'The operation requires a user who signed in during the last 15 minutes. The token acts for no user, or the sign-in that it was issued from is older. Refreshing a token does not renew the sign-in.',
    mend: 'Have the user sign in again: start a new authorization request with the `max_age` from the `WWW-Authenticate` header (RFC 9470), and repeat the request with the new token. In the CLI: `mandate login --force`. API keys and applications that act for themselves cannot perform the operation.',
  },
  insufficient_scope: {
    happened: 'The token lacks a scope that the operation needs.',
    mend: 'The scope stands in the `WWW-Authenticate` header. Ask for it at the next authorization; an administrator may first have to allow it to your application.',
  },
  forbidden: {
    happened:
      'The token is good, but whoever it acts for may not do this: some things are for members of staff or for administrators, and some need a token that acts for a person.',
    mend: 'Use the account of somebody who may, or ask an administrator for the role.',
  },
  not_found: {
    happened:
      'There is nothing with this identifier, or it belongs to somebody else. The two are not told apart, so that nobody finds out what others have.',
    mend: 'Check the identifier, and whose token you send.',
  },
  route_not_found: {
    happened: 'The service has no such path. Paths are case-sensitive and have no slash at the end.',
    mend: 'Compare the path with `/openapi.json` or the API reference.',
  },
  method_not_allowed: {
    happened: 'The path exists, but not with this method.',
    mend: 'The `Allow` header lists the methods it has.',
  },
  not_acceptable: {
    happened: 'The `Accept` header leaves out every form in which the answer could be written.',
    mend: 'Accept `application/json`, or leave the header out.',
  },
  request_timeout: {
    happened: 'The request did not arrive completely in time, and nothing was done.',
    mend: 'Send it again. If it happens on a slow line, send less at a time.',
  },
  idempotency_in_progress: {
    happened: 'Another request with the same `Idempotency-Key` is being carried out at this moment.',
    mend: 'Wait as long as `Retry-After` says, and send the same request again: you will get the answer of the first.',
  },
  conflict: {
    happened: 'What you ask for contradicts how things are now.',
    mend: 'Read what it is about again, and decide anew.',
  },
  invalid_transition: {
    happened: 'In its present state this cannot be done: a cancelled order is not paid, a delivered parcel is not sent.',
    mend: 'Read the thing again. Its `status` says what is possible; the API reference shows the ways from one to the next.',
  },
  version_retired: {
    happened: 'This version of the API, or this operation, has come to the end that was announced for it.',
    mend: 'Move to a current version: `GET /api` lists them, and the `Link` header leads to the guide.',
  },
  precondition_failed: {
    happened: 'The thing has changed since you read it, so the change you meant for the older version was not made.',
    mend: 'Read it again, see whether you still want the change, and send it with the new `ETag` in `If-Match`.',
  },
  payload_too_large: {
    happened: 'The body is larger than this operation takes.',
    mend: 'Bodies have at most 100 kB, orders at most 1 MB. Split larger ones. Files for imports have no limit.',
  },
  uri_too_long: {
    happened: 'The URL has more than 8,000 characters.',
    mend: 'Ask for fewer filters at once.',
  },
  unsupported_media_type: {
    happened: 'The body is of a type, in an encoding or in a character set that the operation does not take.',
    mend: 'Send `Content-Type: application/json`, in UTF-8; for changes also `application/merge-patch+json`, for imports the type of the file.',
  },
  idempotency_key_reused: {
    happened: 'The `Idempotency-Key` was used for another request in the last 24 hours.',
    mend: 'Make a new key for every new thing you do, and use it again only to repeat that same request.',
  },
  precondition_required: {
    happened: 'The operation replaces everything, so it wants to know which version you mean to replace.',
    mend: 'Read the thing, and send its `ETag` in `If-Match`.',
  },
  rate_limited: {
    happened: 'You sent more requests in a short time than you are allowed. Nothing was done.',
    mend: 'Wait as long as `Retry-After` says. The `RateLimit` header of every answer tells what is left, so that you can slow down before. If it is too little for what you do, an administrator can raise the limit of your application.',
  },
  quota_exceeded: {
    happened: 'Your application used up its requests for this calendar month. Nothing was done.',
    mend: 'They are there again when the next month begins in UTC. `GET /api/v1/usage` shows where they went; an administrator can raise the quota.',
  },
  headers_too_large: {
    happened: 'The headers have more than 16 kB.',
    mend: 'Look for what makes them so large: cookies, as a rule, which this API has no use for.',
  },
  internal_error: {
    happened: 'The service made a mistake. What you asked for was not carried out.',
    mend: 'Try again. If it stays, tell support the `request_id`: with it they find out what happened.',
  },
  unavailable: {
    happened: 'The service cannot do this at the moment: it has more to do than it can, or its database is away.',
    mend: 'Wait as long as `Retry-After` says, and send the request again. With the same `Idempotency-Key` it is not carried out twice.',
  },
  insufficient_storage: {
    happened: 'The server has too little disk space left to write. Nothing was changed; requests that only read still work.',
    mend: 'Wait as long as `Retry-After` says, and send the request again; with the same `Idempotency-Key` it is not carried out twice. If you run the server, free disk space: writes then continue without a restart.',
  },
  email_taken: {
    happened: 'Somebody has an account with this e-mail address.',
    mend: 'Find the account with `GET /api/v1/users?email=...`, or use another address.',
  },
  open_orders: {
    happened: 'The account still has orders that are not done.',
    mend: 'Complete or cancel its orders, then close it.',
  },
  last_administrator: {
    happened: 'Nobody could administer the shop any more.',
    mend: 'Make somebody else an administrator first.',
  },
  sku_taken: {
    happened: 'Another product has this SKU.',
    mend: 'Choose another, or change the product that has it.',
  },
  insufficient_stock: {
    happened: 'The adjustment would leave fewer than no units.',
    mend: 'Read the stock again: somebody may have bought in the meantime.',
  },
  product_in_use: {
    happened: 'There are orders with this product, and they have to stay readable.',
    mend: 'Archive it instead: `PATCH` its `status`. It is then no longer for sale.',
  },
  out_of_stock: {
    happened: 'There are fewer units than the order asks for. Nothing was taken.',
    mend: 'Each entry of `errors` names a product, how many were asked for and how many there are. Order fewer, or try later.',
  },
  price_changed: {
    happened: 'The total you showed is no longer the total there is.',
    mend: 'Show the customer the new total, which is `actual` in `errors`, and place the order again if they agree.',
  },
  product_unavailable: {
    happened: 'A product of the order is not for sale now.',
    mend: '`errors` says which. Leave it out.',
  },
  too_many_tasks: {
    happened: 'As many of your exports and imports as may are going on already.',
    mend: 'Wait for one to end, or cancel it.',
  },
  task_not_finished: {
    happened: 'There is no result yet.',
    mend: 'Read the task until its `status` says that it is done, as often as `Retry-After` says.',
  },
  gone: {
    happened: 'It was here once, and is no longer kept.',
    mend: 'Start what made it again, if you still need it.',
  },
  payment_in_progress: {
    happened: 'A payment for this order is under way, and two might both be taken.',
    mend: 'Wait for its end, or cancel it.',
  },
  already_paid: {
    happened: 'There is nothing left to pay for this order.',
    mend: 'Read the order: its payments are listed.',
  },
  invalid_signature: {
    happened: 'The notification was not signed by the provider, or was signed too long ago.',
    mend: 'Compare the signing secret of the webhook endpoint with the one that the server was given, and the clocks of both.',
  },
  refund_exceeds_payment: {
    happened: 'More would be paid back than was paid and not paid back yet.',
    mend: 'Read the refunds of the order, and refund what is left at most.',
  },
  quantity_exceeded: {
    happened: 'More units are named than the order has left to ship or to return.',
    mend: 'Read the order and its shipments, and name what is left at most.',
  },
  too_many_api_keys: {
    happened: 'You have as many API keys as one can have.',
    mend: 'Revoke those that you no longer use.',
  },
  client_id_taken: {
    happened: 'Another application has this client id.',
    mend: 'Choose another, or leave it out: then one is made up.',
  },
  application_has_no_secret: {
    happened: 'A public application runs on machines of others, where nothing can be kept secret, so it has no secret to replace.',
    mend: 'Register a confidential application where a secret is needed.',
  },
  too_many_webhook_endpoints: {
    happened: 'You have as many webhook endpoints as there can be.',
    mend: 'Delete one that is not needed any more. One endpoint can take events of every type.',
  },
  webhook_endpoint_disabled: {
    happened: 'The webhook endpoint is disabled, so nothing is sent to it.',
    mend: 'Enable it with `PATCH` and `{"status": "enabled"}`, then send the request again.',
  },
  secret_still_overlaps: {
    happened: 'The secret before the present one still signs deliveries, and a third one would be one too many.',
    mend: 'Wait until its time is over, or rotate with `overlap_seconds: 0`, which ends every other secret at once.',
  },
};
