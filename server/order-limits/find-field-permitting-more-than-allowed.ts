import { orderActionsInAuthorizationDetails, type EffectiveOrderLimits } from '@mandate/contract';

/**
 * Returns the first field in which `requested` permits more than `allowed`, or undefined if there is no such field. An absent limit permits
 * any amount.
 */
export function findFieldPermittingMoreThanAllowed(allowed: EffectiveOrderLimits, requested: EffectiveOrderLimits): string | undefined {
  const [before, after] = [allowed.limits, requested.limits];
  const widened: readonly (readonly [field: string, isWider: boolean])[] = [
    [
      'actions',
      orderActionsInAuthorizationDetails.some((action) => requested.actions.includes(action) && !allowed.actions.includes(action)),
    ],
    ['limits', before !== undefined && after === undefined],
    ['limits.currency', before !== undefined && after !== undefined && before.currency !== after.currency],
    ['limits.per_order', isHigher(before?.per_order, after?.per_order)],
    ['limits.per_period', isHigher(before?.per_period, after?.per_period)],
    ['limits.period', before?.period !== undefined && before.period !== after?.period],
    ['products', permitsMoreCategories(allowed.products?.categories, requested.products?.categories)],
    ['valid_until', isHigher(toEpochMs(allowed.valid_until), toEpochMs(requested.valid_until))],
    ['orders', allowed.orders === 'own' && requested.orders === 'all'],
    // `always` permits no order without an approval, and `never` permits no order above a limit. Therefore, neither mode is a subset of the
    // other.
    ['approval', allowed.approval !== 'above_limit' && requested.approval !== allowed.approval],
  ];
  return widened.find(([, isWider]) => isWider)?.[0];
}

const permitsMoreCategories = (allowed: readonly string[] | undefined, requested: readonly string[] | undefined): boolean =>
  allowed !== undefined && (requested === undefined || requested.some((category) => !allowed.includes(category)));

const isHigher = (maximum: number | undefined, value: number | undefined): boolean =>
  maximum !== undefined && (value === undefined || value > maximum);

const toEpochMs = (timestamp: string | undefined): number | undefined => (timestamp === undefined ? undefined : Date.parse(timestamp));
