import { type WebhookEndpoint as WebhookEndpointBody, type WebhookEndpointCreate, maxWebhookEndpoints } from '@mandate/contract';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { acquireAdvisoryLockForKey } from '../../database/queries/acquire-advisory-lock.sql.ts';
import { getClientIdIfRestrictedToOwnOrders } from '../../http/request/get-client-id-if-restricted-to-own-orders.ts';
import type { Principal } from '../../http/request/principal-and-token-types.ts';
import { createInvalidRequestProblem, createProblem } from '../../http/problem-details/problem.ts';
import { translatable, TranslatableText } from '../../http/problem-details/translatable-text.ts';
import { listUsableScopes } from '../../http/middleware/authorize-by-scope.ts';
import { endpointFromEntity } from './endpoint-and-delivery-from-entity.ts';
import { findUrlRejectionReason } from '../../outgoing-http/check-public-url.ts';
import { resolveEndpointOwner } from './resolve-endpoint-owner.ts';
import { generateWebhookSecret, encryptWebhookSecret } from './webhook-secret-and-signature.ts';
import { WebhookEndpoint } from './webhook-endpoint-and-delivery.entity.ts';

/** Additional dependencies of the webhook handlers. */
export type WebhookDependencies = {
  /** Encryption key for the endpoint secrets. */
  readonly webhookKey: Buffer;
  /** Whether HTTP URLs that point to this machine are accepted. */
  readonly development: boolean;
};

/**
 * Namespace of the locks that serialize concurrent requests from one owner, so that the owner cannot exceed the maximum number of
 * endpoints.
 */
const ownerLockNamespace = 20_261_121;

/**
 * Creates an endpoint. Must run in a transaction. Only this response contains the secret in plain text, because the stored secret is
 * encrypted.
 */
export async function createWebhookEndpoint(
  em: EntityManager,
  principal: Principal,
  { url, events, description = null }: WebhookEndpointCreate,
  { webhookKey, development }: WebhookDependencies,
): Promise<WebhookEndpointBody & { secret: string }> {
  assertWebhookUrlAllowed(url, development);
  const { authority, clientId, userId, applicationId, apiKeyId } = await resolveEndpointOwner(em, principal);
  await acquireAdvisoryLockForKey(em, userId === null ? clientId : String(userId), ownerLockNamespace);
  const owned = userId === null ? { user: null, clientId } : { user: userId };
  if ((await em.count(WebhookEndpoint, owned)) >= maxWebhookEndpoints) {
    throw createProblem('too_many_webhook_endpoints', {
      detail: translatable`A user or an application can have at most ${{ maximum: maxWebhookEndpoints }} webhook endpoints. Delete one that is no longer needed.`,
    });
  }
  const secret = generateWebhookSecret();
  const endpoint = em.create(WebhookEndpoint, {
    authority,
    clientId,
    user: userId,
    application: applicationId,
    apiKey: apiKeyId,
    scopes: listUsableScopes(principal),
    ownOrdersOnly: getClientIdIfRestrictedToOwnOrders(principal) !== undefined,
    url: new URL(url).href,
    events: [...new Set(events)],
    description,
    sealedSecret: encryptWebhookSecret(secret, webhookKey),
  });
  await em.persist(endpoint).flush();
  return { ...endpointFromEntity(endpoint), secret };
}

/** Rejects a URL to which webhooks must not be sent. */
export function assertWebhookUrlAllowed(url: string, development: boolean): void {
  const reason = findUrlRejectionReason(url, development, 'https://example.com/webhooks');
  if (reason === undefined) return;
  throw createInvalidRequestProblem({
    in: 'body',
    pointer: '#/url',
    code: 'invalid_value',
    detail: new TranslatableText(`The URL ${reason}.`),
  });
}
