import { defineEntity, p } from '@mikro-orm/core';

export const DeliveryMethod = defineEntity({
  name: 'DeliveryMethod',
  tableName: 'delivery_methods',
  properties: {
    code: p.text().primary().check(`code ~ '^[a-z0-9_]{1,32}$'`),
    name: p.text().check('length(name) >= 1 and length(name) <= 200'),
    price: p.bigint('number').check('price >= 0 and price <= 999999999'),
    currency: p.character().length(3).check(`currency ~ '^[A-Z]{3}$'`),
    requiresAddress: p.boolean().default(true),
    active: p.boolean().default(true),
    version: p.integer().version(),
  },
});
