import type { OrderSpendingLimits } from '@mandate/contract';
import { Application } from '../../applications/application.entity.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { findLimitAboveCeiling, type LimitAboveCeiling } from '../../order-limits/find-limit-above-ceiling.ts';
import { readOrderLimitSettings } from '../../order-limits/order-limit-settings.ts';

export type OrderLimitCeilings = {
  /** Ceiling of the application, and the shop's maximum if the application is not the shop's own. Every ceiling applies. */
  readonly ceilings: readonly OrderSpendingLimits[];
  /** Limits that the consent page proposes if the application requests none. */
  readonly defaultLimits: OrderSpendingLimits | undefined;
};

/** Returns the limits that administrators set for an application. */
export async function findOrderLimitCeilings(em: EntityManager, clientId: string): Promise<OrderLimitCeilings> {
  const fields = ['firstParty', 'orderLimitsCeiling'] as const;
  const application = await em.findOne(Application, { clientId }, { fields, disableIdentityMap: true });
  if (!application) return { ceilings: [], defaultLimits: undefined };
  const ofApplication = application.orderLimitsCeiling ?? [];
  if (application.firstParty) return { ceilings: [ofApplication].flat(), defaultLimits: undefined };
  const { maximum_limits: maximum, default_limits: defaultLimits } = await readOrderLimitSettings(em);
  return { ceilings: [ofApplication, maximum ?? []].flat(), defaultLimits: defaultLimits ?? undefined };
}

/** Returns the first limit that is above one of the ceilings, or undefined. */
export function findLimitAboveCeilings(
  ceilings: readonly OrderSpendingLimits[],
  limits: OrderSpendingLimits | undefined,
): LimitAboveCeiling | undefined {
  for (const ceiling of limits ? ceilings : []) {
    const excess = limits && findLimitAboveCeiling(ceiling, limits);
    if (excess) return excess;
  }
  return undefined;
}
