import { sql } from '@mikro-orm/core';
import type { WebhookEndpoint as WebhookEndpointBody, WebhookEndpointUpdate } from '@mandate/contract';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { getClientIdIfRestrictedToOwnOrders } from '../../http/request/get-client-id-if-restricted-to-own-orders.ts';
import type { Principal } from '../../http/request/principal-and-token-types.ts';
import { createProblem } from '../../http/problem-details/problem.ts';
import { listUsableScopes } from '../../http/middleware/authorize-by-scope.ts';
import { assertWebhookUrlAllowed, type WebhookDependencies } from './create-endpoint.ts';
import { skipDeliveriesAndRecordDisabledEvent } from './disable-webhook-endpoint.ts';
import { endpointFromEntity, type EndpointEntity } from './endpoint-and-delivery-from-entity.ts';
import { generateWebhookSecret, encryptWebhookSecret } from './webhook-secret-and-signature.ts';

/** Applies a merge patch (RFC 7396) to a locked endpoint. An update that changes nothing does not increment the version. */
export async function updateWebhookEndpoint(
  em: EntityManager,
  principal: Principal,
  endpoint: EndpointEntity,
  { url, events, description, status }: WebhookEndpointUpdate,
  { development }: WebhookDependencies,
): Promise<WebhookEndpointBody> {
  if (url !== undefined) assertWebhookUrlAllowed(url, development);
  const before = { url: endpoint.url, events: endpoint.events, description: endpoint.description ?? null, status: endpoint.status };
  const after = {
    url: url === undefined ? before.url : new URL(url).href,
    events: events === undefined ? before.events : [...new Set(events)],
    description: description === undefined ? before.description : description,
    status: status ?? before.status,
  };
  if (JSON.stringify(after) === JSON.stringify(before)) return endpointFromEntity(endpoint);
  const keepsState = after.url === before.url && before.status === 'enabled';
  em.assign(endpoint, {
    ...after,
    // After an update, the endpoint receives the events that the principal who updated it can see.
    scopes: listUsableScopes(principal),
    ownOrdersOnly: getClientIdIfRestrictedToOwnOrders(principal) !== undefined,
    disabledReason: after.status === 'enabled' ? null : (endpoint.disabledReason ?? 'manual'),
    // Changing the URL or enabling the endpoint resets its failure state.
    ...(!keepsState && { failingSince: null, pausedUntil: null }),
    version: endpoint.version + 1,
    updatedAt: sql.now(),
  });
  await em.flush();
  const changed = endpointFromEntity(endpoint);
  if (after.status === 'disabled' && before.status === 'enabled') await skipDeliveriesAndRecordDisabledEvent(em, changed);
  return changed;
}

/**
 * Creates a new secret for a locked endpoint. During an overlap period, requests are also signed with the previous secret. A second
 * rotation with an overlap is rejected during this period, because three secrets would then be valid at the same time.
 */
export async function rotateWebhookSecret(
  em: EntityManager,
  endpoint: EndpointEntity,
  overlapSeconds: number,
  key: Buffer,
  now: Date,
): Promise<{ secret: string; until: string }> {
  const { previousSecretUntil, sealedSecret, version } = endpoint;
  if (overlapSeconds > 0 && previousSecretUntil != null && previousSecretUntil > now) {
    throw createProblem('secret_still_overlaps', {
      detail: 'Deliveries are still signed with the previous secret. Wait until it expires, or invalidate it with `overlap_seconds: 0`.',
    });
  }
  const secret = generateWebhookSecret();
  const until = new Date(now.getTime() + overlapSeconds * 1000);
  em.assign(endpoint, {
    previousSealedSecret: overlapSeconds > 0 ? sealedSecret : null,
    previousSecretUntil: overlapSeconds > 0 ? until : null,
    sealedSecret: encryptWebhookSecret(secret, key),
    version: version + 1,
    updatedAt: sql.now(),
  });
  await em.flush();
  return { secret, until: until.toISOString() };
}
