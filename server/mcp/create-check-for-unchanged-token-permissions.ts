import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { runWithRequestEntityManager } from '../database/entity-manager/request-entity-manager.ts';
import type { Principal } from '../http/request/principal-and-token-types.ts';
import { findActiveTokenUserAndLimits } from '../oauth/tokens/find-active-token-user-and-limits.sql.ts';

/**
 * Returns a function that checks that the caller's access token is still valid and that the token's permissions (role, scopes and order
 * limits) have not changed since the function was created.
 */
export async function createCheckForUnchangedTokenPermissions(
  em: EntityManager,
  { tokenRecordId }: Principal,
): Promise<() => Promise<boolean>> {
  if (tokenRecordId === undefined) return async () => false;
  const readStatus = () => runWithRequestEntityManager(em, () => findActiveTokenUserAndLimits(em, [tokenRecordId]));
  const initialStatus = JSON.stringify(await readStatus());
  return async () => {
    const status = await readStatus();
    return status !== undefined && status.ends_at * 1000 > Date.now() && JSON.stringify(status) === initialStatus;
  };
}
