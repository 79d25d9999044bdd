import { defineEntity, p } from '@mikro-orm/core';

/** How many requests an application or an API key made in a calendar month. It stays when the application goes. */
export const UsageMonth = defineEntity({
  name: 'UsageMonth',
  tableName: 'usage_months',
  properties: {
    clientId: p.text().primary(),
    month: p.text().primary().check(`month ~ '^[0-9]{4}-[0-9]{2}$'`),
    requests: p.bigint('number').check('requests >= 0'),
  },
});
