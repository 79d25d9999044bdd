import { z } from 'zod';
import { withSchemaName } from '../schema/openapi-schema-name.ts';
import { currencySchema } from '../schema/amount-price-and-currency-schemas.ts';
import { orderProductLimitsInputSchema, orderProductLimitsSchema } from './order-product-limits.ts';
import { lengthLimitedTextSchema, timestampInputSchema, timestampSchema } from '../schema/text-timestamp-and-metadata-schemas.ts';

/** The `type` of authorization details (RFC 9396) that limit what an application may do with a customer's orders. */
export const orderAuthorizationDetailsType = 'mandate_orders';
/** Actions that authorization details can permit. `place` includes changes to an order that do not change its price. */
export const orderActionsInAuthorizationDetails = ['place', 'pay', 'cancel'] as const;
/** Orders that an application can access: only the orders that it placed, or all of the customer's orders. */
export const orderAccessLevels = ['own', 'all'] as const;
/**
 * Orders that need the customer's approval: `above_limit` (only orders that exceed a spending limit) or `always` (every order). With
 * `never`, the application cannot request approvals, so every order that exceeds a limit is rejected.
 */
export const orderApprovalModes = ['above_limit', 'always', 'never'] as const;
/** Calendar periods of a budget. A week starts on Monday. */
export const budgetPeriods = ['day', 'week', 'month'] as const;

const knownTimeZones: ReadonlySet<string> = new Set([...Intl.supportedValuesOf('timeZone'), 'UTC']);
const knownCurrencies: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

const limitAmount = (description: string) => z.number().int().min(1).max(Number.MAX_SAFE_INTEGER).optional().describe(description);

const limitFields = {
  currency: currencySchema
    .refine((currency) => knownCurrencies.has(currency), { message: 'must be an ISO 4217 code such as EUR' })
    .describe('Currency of the amounts. Orders in other currencies are rejected.'),
  per_order: limitAmount('Maximum total of one order, in minor units.'),
  per_period: limitAmount('Maximum total of all orders in one period, in minor units. Requires `period`.'),
  period: z.enum(budgetPeriods).optional().describe("Calendar period of the budget, in the customer's time zone. A week starts on Monday."),
};

const limitsInputSchema = z
  .object(limitFields)
  .strict()
  .superRefine(({ per_order: perOrder, per_period: perPeriod, period }, context) => {
    const addIssue = (field: string, message: string): void => context.addIssue({ code: 'custom', path: [field], message });
    if (perOrder === undefined && perPeriod === undefined) addIssue('per_order', 'must be set unless `per_period` is set');
    if (perPeriod !== undefined && period === undefined) addIssue('period', 'must be set if `per_period` is set');
    if (perPeriod === undefined && period !== undefined) addIssue('per_period', 'must be set if `period` is set');
  });

/** Spending limits in an administrator's request; null for no limits. */
export const nullableSpendingLimitsInputSchema = limitsInputSchema.nullable();
/** Spending limits that an administrator has set; null for no limits. */
export const nullableSpendingLimitsSchema = z.object(limitFields).nullable();

const orderAccessText =
  "Orders that the application can see, change, cancel and pay for: `own` (only orders that it placed) or `all` (all of the customer's orders).";

const orderApprovalText =
  "Orders that need the customer's approval: `above_limit` (only orders that exceed a spending limit), `always` (every order) or `never` (no order; the application cannot request approvals).";

const apiKeyOrderAccessText =
  "Orders that the key can see, change, cancel and pay for: `own` (only orders that were placed with this key) or `all` (all of the customer's orders).";

const conditionFields = {
  actions: z
    .array(z.enum(orderActionsInAuthorizationDetails))
    .min(1)
    .max(orderActionsInAuthorizationDetails.length)
    .transform((actions) => orderActionsInAuthorizationDetails.filter((action) => actions.includes(action)))
    .default([...orderActionsInAuthorizationDetails])
    .describe('Permitted actions (default: all). `place` includes changing the delivery, reference, note and metadata of an order.'),
  limits: withSchemaName('OrderSpendingLimits', limitsInputSchema)
    .optional()
    .describe('Spending limits. If this field is omitted, amounts are unlimited.'),
  products: orderProductLimitsInputSchema.optional().describe('Products that can be ordered (default: all products).'),
  valid_until: timestampInputSchema
    .optional()
    .describe('Time after which the application can no longer place, pay for or cancel orders (default: expiration time of the grant).'),
};

/** Limits that a customer sets for an application in a form on the consent page or on an account page. */
export const parsedOrderLimitsFormSchema = z
  .object({ ...conditionFields, orders: z.enum(orderAccessLevels), approval: z.enum(orderApprovalModes) })
  .strict();

const timeZoneInputSchema = lengthLimitedTextSchema(64, 1)
  .refine((name) => knownTimeZones.has(name), { message: 'must be an IANA time zone such as Europe/London' })
  .optional();

/** Limits that a customer sets for an application through the API. */
export const connectedAppLimitsInputSchema = withSchemaName(
  'ConnectedAppLimitsInput',
  z
    .object({
      ...conditionFields,
      orders: z
        .enum(orderAccessLevels)
        .optional()
        .describe(
          `${orderAccessText} Default: unchanged, or \`all\` for new limits. \`all\` is rejected if the application requested only \`own\`.`,
        ),
      approval: z
        .enum(orderApprovalModes)
        .optional()
        .describe(`${orderApprovalText} Default: unchanged, or \`above_limit\` for new limits.`),
      time_zone: timeZoneInputSchema.describe(
        'IANA name of the time zone that determines when a period starts (default: the stored time zone, or `UTC` if none is stored).',
      ),
    })
    .strict(),
);

/** Limits of a new API key. */
export const apiKeyOrderLimitsInputSchema = withSchemaName(
  'ApiKeyLimitsInput',
  z
    .object({
      ...conditionFields,
      orders: z.enum(orderAccessLevels).default('all').describe(`${apiKeyOrderAccessText} Default: \`all\`.`),
      time_zone: timeZoneInputSchema.describe('IANA name of the time zone that determines when a period starts (default: `UTC`).'),
    })
    .strict(),
);

/** Limits of an API key; null if only its scopes limit the key. */
export const apiKeyOrderLimitsSchema = z
  .object({
    actions: z.array(z.enum(orderActionsInAuthorizationDetails)).describe('Permitted actions.'),
    limits: withSchemaName('EffectiveOrderSpendingLimits', z.object(limitFields)).optional().describe('Spending limits, if any.'),
    products: orderProductLimitsSchema.optional().describe('Products that can be ordered; absent if all products can be ordered.'),
    valid_until: timestampSchema.optional().describe('Time after which the key can no longer place, pay for or cancel orders.'),
    orders: z.enum(orderAccessLevels).describe(apiKeyOrderAccessText),
  })
  .nullable()
  .describe('Limits for orders; `null` if only the scopes limit the key.');

/**
 * One element of `authorization_details` in a request. Unknown fields are rejected, because ignoring an unknown restriction would permit
 * more than the application requested.
 */
export const orderAuthorizationDetailsInputSchema = z
  .object({
    type: z.literal(orderAuthorizationDetailsType),
    ...conditionFields,
    orders: z
      .enum(orderAccessLevels)
      .optional()
      .describe(`${orderAccessText} Default: \`own\`, or \`all\` for applications that the shop operates.`),
    approval: z.enum(orderApprovalModes).optional().describe(`${orderApprovalText} Default: \`above_limit\`.`),
  })
  .strict();

/** Authorization details as the server returns them, with every default filled in. */
export const orderAuthorizationDetailsSchema = withSchemaName(
  'OrderAuthorizationDetails',
  z.object({
    type: z.literal(orderAuthorizationDetailsType),
    actions: z.array(z.enum(orderActionsInAuthorizationDetails)).describe('Permitted actions.'),
    limits: withSchemaName('EffectiveOrderSpendingLimits', z.object(limitFields)).optional().describe('Spending limits, if any.'),
    products: orderProductLimitsSchema.optional().describe('Products that can be ordered; absent if all products can be ordered.'),
    valid_until: timestampSchema.optional().describe('Time after which the application can no longer place, pay for or cancel orders.'),
    orders: z.enum(orderAccessLevels).describe(orderAccessText),
    approval: z.enum(orderApprovalModes).describe(orderApprovalText),
  }),
);

export type ApiKeyLimits = NonNullable<z.output<typeof apiKeyOrderLimitsSchema>>;
export type OrderAction = (typeof orderActionsInAuthorizationDetails)[number];
export type BudgetPeriod = (typeof budgetPeriods)[number];
export type OrderAccessLevel = (typeof orderAccessLevels)[number];
export type OrderApprovalMode = (typeof orderApprovalModes)[number];
export type OrderSpendingLimits = NonNullable<z.output<typeof nullableSpendingLimitsSchema>>;
export type OrderAuthorizationDetails = z.output<typeof orderAuthorizationDetailsSchema>;
/** Permissions and limits that a customer sets for the orders of an application. */
export type EffectiveOrderLimits = z.output<typeof parsedOrderLimitsFormSchema>;
/** Limits in a request. The defaults for `orders` and `approval` depend on the request. */
export type OrderLimitsInput = Omit<EffectiveOrderLimits, 'orders' | 'approval'> & {
  readonly orders?: OrderAccessLevel | undefined;
  readonly approval?: OrderApprovalMode | undefined;
};
