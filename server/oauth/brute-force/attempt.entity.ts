import { defineEntity, p } from '@mikro-orm/core';

/** How often something was tried; written by the limiter, which names the columns by their order. */
export const Attempt = defineEntity({
  name: 'Attempt',
  tableName: 'attempts',
  properties: {
    key: p.string().length(255).primary(),
    points: p.integer().default(0),
    expire: p.bigint('number').columnType('bigint').nullable(),
  },
  indexes: [{ name: 'attempts_expiry', properties: ['expire'] }],
});
