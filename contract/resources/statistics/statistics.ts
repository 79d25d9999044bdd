import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { idSchema, integerInUrlSchema } from '../../schema/ids.ts';
import { amountSchema, currencySchema } from '../../schema/amount-price-and-currency-schemas.ts';
import { commonProblemTypes, declareProblemResponses, problemCodesOfAuthorizedOperations } from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata } from '../../protocol/route-metadata.ts';
import { timestampSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

const fails = declareProblemResponses(commonProblemTypes);

export const statisticsIntervals = ['hour', 'day', 'week', 'month'] as const;
/** Properties by which order statistics can be grouped. */
export const statisticsGroupByProperties = ['status', 'product', 'category', 'application'] as const;
/** Maximum number of days for each interval. These maximums limit the number of periods in a response. */
export const maxStatisticsDaysByInterval = { hour: 31, day: 366, week: 1_830, month: 3_660 } as const;
/** Maximum number of groups in order statistics. */
export const maxStatisticsGroups = 20;
const maxPeriods = 31 * 25;

/**
 * The statistics have a resolution of 15 minutes. Before this date, the UTC offsets of some time zones were not multiples of 15 minutes.
 */
const firstDay = '1980-01-01';
const lastDay = '2999-12-31';
const isDay = (text: string): boolean => {
  const time = Date.parse(`${text}T00:00:00Z`);
  return text >= firstDay && text <= lastDay && !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === text;
};
const daySchema = z
  .string()
  .regex(/^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/, 'must be a date such as 2026-01-31')
  .refine(isDay, { message: `must be a valid date between ${firstDay} and ${lastDay}` });
const monthSchema = z
  .string()
  .regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a month such as 2026-01')
  .refine((text) => isDay(`${text}-01`), { message: `must be between ${firstDay.slice(0, 7)} and ${lastDay.slice(0, 7)}` });

const currencyParameter = currencySchema
  .optional()
  .describe('Only orders in this currency, given as an ISO 4217 code (default: the currency with the most orders).');
const timeZoneParameter = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/, 'must be the name of a time zone such as Europe/Berlin')
  .default('UTC')
  .describe('Time zone that determines when a day begins: a name in the IANA database, such as `Europe/Berlin`.');

const count = z.number().int().min(0);
const sums = {
  orders: count.describe('Number of orders placed in the period.'),
  paid_orders: count.describe('Number of orders paid in the period.'),
  items: count.describe('Number of units in the orders paid in the period.'),
  revenue: amountSchema.describe('Total amount of the orders paid in the period, in minor units of `currency`.'),
  refunds: count.describe('Number of successful refunds that were requested in the period.'),
  refunded_total: amountSchema.describe('Sum of the successful refunds that were requested in the period, in minor units of `currency`.'),
  net_revenue: z.number().int().describe('`revenue` minus `refunded_total`, in minor units of `currency`.'),
};
const notPerProduct = 'null` if the results are grouped by product or category, because one order can belong to several groups.';
const groupSums = {
  orders: sums.orders.nullable().describe(`Number of orders placed in the period; \`${notPerProduct}`),
  paid_orders: sums.paid_orders.nullable().describe(`Number of orders paid in the period; \`${notPerProduct}`),
  items: sums.items,
  revenue: sums.revenue.describe(
    'Revenue of the group, in minor units of `currency`. If the results are grouped by product or category, this is the sum of the line totals; otherwise, it is the sum of the order totals.',
  ),
  refunds: sums.refunds.nullable().describe(`Number of refunds; \`${notPerProduct}`),
  refunded_total: sums.refunded_total.nullable().describe(`Sum of the refunds; \`${notPerProduct}`),
  net_revenue: sums.net_revenue.nullable().describe(`\`revenue\` minus \`refunded_total\`; \`${notPerProduct}`),
};
const period = {
  starts_at: timestampSchema.describe('Start of the period.'),
  ends_at: timestampSchema.describe('End of the period, and start of the next one.'),
};
const orderSumsSchema = withSchemaName('OrderSums', z.object(sums));
const groupSumsSchema = withSchemaName('OrderGroupSums', z.object(groupSums));
const periodSchema = withSchemaName('OrderPeriod', z.object({ ...period, ...sums }));

export const orderStatisticsSchema = withSchemaName(
  'OrderStatistics',
  z.object({
    currency: currencySchema,
    time_zone: z.string(),
    interval: z.enum(statisticsIntervals),
    group_by: z.enum(statisticsGroupByProperties).nullable(),
    from: z.string().describe('First day covered by the statistics, in `time_zone`.'),
    to: z.string().describe('Last day covered by the statistics, in `time_zone`.'),
    previous_from: z.string().describe('First day of the previous period. The previous period ends on the day before `from`.'),
    totals: orderSumsSchema,
    previous_totals: orderSumsSchema.describe('Totals of the previous period.'),
    periods: z.array(periodSchema).max(maxPeriods).describe('One entry for each interval, oldest first.'),
    previous_periods: z.array(periodSchema).max(maxPeriods).describe('One entry for each interval of the previous period.'),
    groups: z
      .array(
        withSchemaName(
          'OrderGroup',
          z.object({
            key: z
              .string()
              .describe(
                'Key of the group: an order status, product ID, category or client ID. Empty for orders that were not placed by an application.',
              ),
            name: z
              .string()
              .nullable()
              .describe(
                'Name of the product or application; `null` if the group has no name, or if the product or application has been deleted.',
              ),
            totals: groupSumsSchema,
            previous_totals: groupSumsSchema,
            periods: z.array(withSchemaName('OrderGroupPeriod', z.object({ ...period, ...groupSums }))).max(maxPeriods),
          }),
        ),
      )
      .max(maxStatisticsGroups)
      .describe('Groups with the highest revenue; empty without `group_by`.'),
    group_count: count.describe('Total number of groups, including those beyond `limit`.'),
  }),
);

const productSchema = withSchemaName(
  'ProductSales',
  z.object({
    product_id: idSchema,
    sku: z.string(),
    name: z.string(),
    category: z.string(),
    available: z.number().int().min(0).nullable().describe('Units in stock; `null` if stock is not tracked.'),
    items: count.describe('Number of units sold in the period.'),
    revenue: amountSchema.describe('Sum of the order line totals, in minor units of `currency`.'),
  }),
);
const maxProducts = 100;

const applicationSchema = withSchemaName(
  'ApplicationActivity',
  z.object({
    client_id: z.string(),
    name: z.string().nullable().describe('Name of the application or API key; `null` if it has been deleted.'),
    requests: count.describe('Number of API requests that count toward the monthly quota.'),
    errors: count.describe('Number of API requests with an error response (status 400 or higher), including rejected requests.'),
    orders: count.describe('Number of orders placed by the application.'),
    paid_orders: count.describe('Number of orders placed by the application that were paid in the period.'),
    revenue: amountSchema.describe('Total amount of the paid orders, in minor units of `currency`.'),
  }),
);

export const statisticsRoutes = defineResource('Statistics', "Statistics on the shop's sales, products and applications.", {
  orders: {
    method: 'GET',
    path: '/statistics/orders',
    query: z
      .object({
        from: daySchema
          .optional()
          .describe(
            'First day, such as `2026-01-31` (default: the start of the last 30 days, 12 weeks or 12 months, depending on `interval`).',
          ),
        to: daySchema.optional().describe('Last day (default: today).'),
        interval: z
          .enum(statisticsIntervals)
          .default('day')
          .describe(
            'Length of the periods. Weeks begin on Monday. The first and last week or month can be partial: only the days from `from` to `to` are counted.',
          ),
        time_zone: timeZoneParameter,
        currency: currencyParameter,
        group_by: z
          .enum(statisticsGroupByProperties)
          .optional()
          .describe(
            'Property by which to group the statistics. The response also contains the totals. Orders are grouped by their current status, and products by their current category.',
          ),
        limit: integerInUrlSchema(1, maxStatisticsGroups).default('10').describe('Maximum number of groups in the response.'),
      })
      .strict(),
    summary: 'Get order statistics',
    description:
      "Returns the shop's orders, revenue and refunds for each hour, day, week or month, compared with the previous period. An order is counted in the period in which it was placed. The revenue and items of an order are counted in the period in which it was paid, and a refund in the period in which it was requested. The previous period has the same number of days, or the same number of months if the period consists of whole months.",
    responses: { 200: orderStatisticsSchema, ...fails(...problemCodesOfAuthorizedOperations) },
    metadata: declareRouteMetadata({ operationId: 'stats.orders', access: ['statistics.read'] }),
  },
  products: {
    method: 'GET',
    path: '/statistics/products',
    query: z
      .object({
        from: daySchema.optional().describe('First day, such as `2026-01-31` (default: 29 days before `to`).'),
        to: daySchema.optional().describe('Last day (default: today).'),
        time_zone: timeZoneParameter,
        currency: currencyParameter,
        low_stock: integerInUrlSchema(0, 100_000)
          .default('5')
          .describe('A product with at most this many units in stock is listed as running low.'),
        limit: integerInUrlSchema(1, maxProducts).default('10').describe('Maximum number of products in each list.'),
      })
      .strict(),
    summary: 'Get product statistics',
    description:
      'Returns the best-selling products of a period, the active products that are running low, and the active products without sales.',
    responses: {
      200: withSchemaName(
        'ProductStatistics',
        z.object({
          currency: currencySchema,
          time_zone: z.string(),
          from: z.string().describe('First day covered by the statistics, in `time_zone`.'),
          to: z.string().describe('Last day covered by the statistics, in `time_zone`.'),
          best_sellers: z.array(productSchema).max(maxProducts).describe('Best-selling products, by number of units sold.'),
          running_low: z.array(productSchema).max(maxProducts).describe('Active products with at most `low_stock` units, fewest first.'),
          not_sold: z.array(productSchema).max(maxProducts).describe('Active products without sales in the period, oldest first.'),
        }),
      ),
      ...fails(...problemCodesOfAuthorizedOperations),
    },
    metadata: declareRouteMetadata({ operationId: 'stats.products', access: ['statistics.read'] }),
  },
  applications: {
    method: 'GET',
    path: '/statistics/applications',
    query: z
      .object({
        from: monthSchema.optional().describe('First calendar month of the range, in UTC, such as `2026-01` (default: the same as `to`).'),
        to: monthSchema.optional().describe('Last calendar month of the range, in UTC (default: the current month).'),
        currency: currencyParameter,
        limit: integerInUrlSchema(1, 100).default('20').describe('Maximum number of applications in the response.'),
      })
      .strict(),
    summary: 'Get application statistics',
    description:
      'Returns the request, error and order counts of each application and API key, sorted by request count, highest first. The request and error counts are updated every few seconds.',
    responses: {
      200: withSchemaName(
        'ApplicationStatistics',
        z.object({
          currency: currencySchema,
          from: z.string().describe('First calendar month, in UTC.'),
          to: z.string().describe('Last calendar month, in UTC.'),
          applications: z.array(applicationSchema).max(100),
        }),
      ),
      ...fails(...problemCodesOfAuthorizedOperations),
    },
    metadata: declareRouteMetadata({ operationId: 'stats.applications', access: ['statistics.read'] }),
  },
});
export type OrderStatistics = z.output<typeof orderStatisticsSchema>;
export type ProductStatistics = z.output<(typeof statisticsRoutes.products.responses)[200]>;
export type ApplicationStatistics = z.output<(typeof statisticsRoutes.applications.responses)[200]>;
