import { defineEntity, p } from '@mikro-orm/core';

/** An idempotency key with the response to its first request, stored in the same transaction as the request's effects. */
export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  properties: {
    /** Client ID and user ID of the caller, so that different callers can use the same key. */
    caller: p.text().primary(),
    operation: p.text().primary(),
    key: p.text().primary().check('length(key) >= 1 and length(key) <= 255'),
    requestHash: p.text(),
    status: p.integer().nullable(),
    location: p.text().nullable(),
    /** The response body as sent to the client. */
    body: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
  indexes: [{ name: 'idempotency_keys_created', properties: ['createdAt'], type: 'brin' }],
});
