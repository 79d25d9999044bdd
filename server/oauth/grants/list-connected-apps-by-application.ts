import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import type { EffectiveLimits } from '../../order-limits/find-effective-order-limits.ts';
import { listConnectedAppsOfUser } from './store-list-and-revoke-connected-apps.ts';
import { listLimitsOfConnectedApps } from './find-and-change-limits-of-connected-app.ts';

/** An application, with every device on which the user has granted it access. */
export type ConnectedAppGroup = {
  readonly clientId: string;
  readonly name: string;
  readonly lastUsedAt: Date;
  /** The most recently used device comes first. */
  readonly devices: readonly {
    /** ID of the connected app. */
    readonly id: number;
    readonly device: string | null;
    readonly scopes: readonly string[];
    readonly allowedAt: Date;
    readonly lastUsedAt: Date;
    /** Limits for orders; undefined if the application has no limits on this device. */
    readonly limits: EffectiveLimits | undefined;
  }[];
};

/**
 * Lists the applications that can currently act on the user's behalf, with their devices. The most recently used application comes first.
 */
export async function listConnectedAppsByApplication(
  em: EntityManager,
  userId: number,
  now: Date,
  limit: number,
): Promise<ConnectedAppGroup[]> {
  const apps = await listConnectedAppsOfUser(em, userId, now, null, limit);
  const limits = await listLimitsOfConnectedApps(
    em,
    apps.map(({ id }) => id),
  );
  const byLastUse = apps.toSorted((one, other) => other.last_used_at.localeCompare(one.last_used_at));
  const groups = Map.groupBy(byLastUse, ({ application }) => application.client_id);
  return [...groups].flatMap(([clientId, [first, ...others]]) => {
    if (!first) return [];
    const devices = [first, ...others].map(({ id, device, scopes, created_at: allowed, last_used_at: used }) => ({
      id,
      device,
      scopes,
      allowedAt: new Date(allowed),
      lastUsedAt: new Date(used),
      limits: limits.get(id),
    }));
    return [{ clientId, name: first.application.name, lastUsedAt: new Date(first.last_used_at), devices }];
  });
}
