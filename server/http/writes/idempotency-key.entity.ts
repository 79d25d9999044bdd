import { defineEntity, p } from '@mikro-orm/core';

/** The answer to a request that must not be carried out twice, kept in the transaction of its effect. */
export const IdempotencyKey = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  properties: {
    /** Application and person: keys of different callers never meet. */
    caller: p.text().primary(),
    operation: p.text().primary(),
    key: p.text().primary().check('length(key) >= 1 and length(key) <= 255'),
    requestHash: p.text(),
    status: p.integer().nullable(),
    location: p.text().nullable(),
    /** The bytes that were sent. */
    body: p.text().nullable(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
  indexes: [{ name: 'idempotency_keys_created', properties: ['createdAt'], type: 'brin' }],
});
