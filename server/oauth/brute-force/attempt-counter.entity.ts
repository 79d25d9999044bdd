import { defineEntity, p } from '@mikro-orm/core';

/** Attempt counter, written by rate-limiter-flexible. The library's SQL statements depend on the column order. */
export const AttemptCounter = defineEntity({
  name: 'Attempt',
  tableName: 'attempts',
  properties: {
    key: p.string().length(255).primary(),
    points: p.integer().default(0),
    expire: p.bigint('number').columnType('bigint').nullable(),
  },
  indexes: [{ name: 'attempts_expiry', properties: ['expire'] }],
});
