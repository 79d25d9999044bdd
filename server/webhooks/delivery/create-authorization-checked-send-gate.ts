import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import type { ClaimedDelivery } from './claim-and-update-deliveries.sql.ts';
import type { SendGate } from '../../outgoing-http/ssrf-protected-connection.ts';
import { deliveryAuthorizationQueriesByReason, lockWebhookAuthorizationRows } from './lock-and-check-authorization.sql.ts';
import { EndpointNoLongerAuthorizedError, AuthorizationLockedError } from './send-webhook.ts';

/**
 * Returns the checks that can authorize a delivery. The checks run one by one, because planning one query with all checks takes longer than
 * a delivery.
 */
function checksFor({ user_id: owner, subject_type: subject, authority, endpoint_user_id: user }: ClaimedDelivery) {
  if (owner === null || subject === 'webhook_endpoint') return [deliveryAuthorizationQueriesByReason.ownerless];
  if (authority === 'application' || authority === 'grant')
    return [deliveryAuthorizationQueriesByReason.granted, deliveryAuthorizationQueriesByReason.unrestricted];
  return owner === user
    ? [deliveryAuthorizationQueriesByReason.own, deliveryAuthorizationQueriesByReason.unrestricted]
    : [deliveryAuthorizationQueriesByReason.unrestricted];
}

async function isAllowed(em: EntityManager, delivery: ClaimedDelivery): Promise<boolean> {
  for (const check of checksFor(delivery)) if ((await check(em, [delivery.endpoint_id, delivery.event_id]))[0]?.allowed) return true;
  return false;
}

/**
 * Returns a gate that sends a request only while its authorization cannot be revoked. The grant, the user, the application and the endpoint
 * are locked from the check until the request is written. Therefore, if a revocation commits before the check, nothing is sent; otherwise,
 * the revocation is acknowledged only after the request has been sent. The locks are held only briefly, because the connection is already
 * established.
 */
export const createAuthorizationCheckedSendGate =
  (em: EntityManager, delivery: ClaimedDelivery): SendGate =>
  (send) =>
    em.fork().transactional(async (inner) => {
      const [rows] = await lockWebhookAuthorizationRows(inner, [delivery.endpoint_id, delivery.event_id]);
      if (!(await isAllowed(inner, delivery))) throw new EndpointNoLongerAuthorizedError();
      if (!rows || !Object.values(rows).every(Boolean)) throw new AuthorizationLockedError();
      await send();
    });
