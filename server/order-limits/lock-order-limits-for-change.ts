import { acquireAdvisoryLockForNumber, acquireAdvisoryLockForKey } from '../database/queries/acquire-advisory-lock.sql.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';

// The function `mandate_lock_order_limits_v2` acquires shared locks with the same keys.
const ceilingsLockId = 7_411_890;
const grantLockNamespace = 7_411_891;

/**
 * Waits until all orders and payments of the grant that have been checked against the previous limits are committed. Later orders and
 * payments must wait until this transaction ends. Call this function before changing the limits.
 */
export const lockGrantLimitsForChange = (em: EntityManager, grantId: string): Promise<void> =>
  acquireAdvisoryLockForKey(em, grantId, grantLockNamespace);

/** Like `lockGrantLimitsForChange`, but for limits that administrators set and that apply to many grants. */
export const lockAdministratorSetLimitsForChange = (em: EntityManager): Promise<void> => acquireAdvisoryLockForNumber(em, ceilingsLockId);
