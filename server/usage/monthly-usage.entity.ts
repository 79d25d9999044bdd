import { defineEntity, p } from '@mikro-orm/core';

/** Number of requests made by an application or API key in a calendar month. The row is kept when the application is deleted. */
export const MonthlyUsage = defineEntity({
  name: 'UsageMonth',
  tableName: 'usage_months',
  properties: {
    clientId: p.text().primary(),
    month: p.text().primary().check(`month ~ '^[0-9]{4}-[0-9]{2}$'`),
    requests: p.bigint('number').check('requests >= 0'),
    /**
     * Number of requests to which the server sent an error response. This number includes rejected requests, which are not part of
     * `requests`.
     */
    errors: p.bigint('number').default(0).check('errors >= 0'),
  },
});
