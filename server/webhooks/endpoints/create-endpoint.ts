import { type WebhookEndpoint, type WebhookEndpointCreate, maxWebhookEndpoints } from '@mandate/contract';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import type { Principal } from '../../http/request/principal.ts';
import { createInvalidRequestProblem, createProblem } from '../../http/problem-details/problem.ts';
import { allowedScopes } from '../../http/middleware/authorize.ts';
import { endpointColumnsSql, type EndpointRow, endpointFromRow } from './endpoint-rows.ts';
import { urlRejectionReason } from '../../outgoing-http/public-url.ts';
import { resolveEndpointOwner } from './endpoint-owner.ts';
import { generateWebhookSecret, encryptWebhookSecret } from './webhook-signature.ts';

/** Additional dependencies of the webhook handlers. */
export type WebhookDependencies = {
  /** Encryption key of the endpoint secrets. */
  readonly webhookKey: Buffer;
  /** Whether http URLs of this machine are accepted. */
  readonly development: boolean;
};

// Serializes concurrent requests of one owner, so that each counts the endpoints of the others.
const lockOwner = prepareStatement('lock_endpoint_owner', 'select pg_advisory_xact_lock(hashtextextended($1, 20261121))');
const countEndpoints = prepareStatement<{ count: number }>(
  'count_webhook_endpoints',
  `select count(*) as count from webhook_endpoints where user_id = $1 or ($1::bigint is null and user_id is null and client_id = $2)`,
);
const insertEndpoint = prepareStatement<EndpointRow>(
  'insert_webhook_endpoint',
  `insert into webhook_endpoints as e (authority, client_id, user_id, application_id, api_key_id, scopes, url, events, description, sealed_secret)
   values ($1, $2, $3, $4, $5, $6::text[], $7, $8::text[], $9, $10) returning ${endpointColumnsSql}`,
);

/** Creates an endpoint; requires a transaction. Only this response contains the secret in plain text; the stored secret is encrypted. */
export async function createWebhookEndpoint(
  em: EntityManager,
  principal: Principal,
  { url, events, description = null }: WebhookEndpointCreate,
  { webhookKey, development }: WebhookDependencies,
): Promise<WebhookEndpoint & { secret: string }> {
  assertWebhookUrlAllowed(url, development);
  const { authority, clientId, userId, applicationId, apiKeyId } = await resolveEndpointOwner(em, principal);
  await lockOwner(em, [userId === null ? clientId : String(userId)]);
  const [counted] = await countEndpoints(em, [userId, clientId]);
  if ((counted?.count ?? 0) >= maxWebhookEndpoints) {
    throw createProblem('too_many_webhook_endpoints', {
      detail: `An owner can have ${maxWebhookEndpoints} webhook endpoints. Delete one that is no longer needed.`,
    });
  }
  const secret = generateWebhookSecret();
  const ownerValues = [authority, clientId, userId, applicationId, apiKeyId, allowedScopes(principal)];
  const endpointValues = [new URL(url).href, [...new Set(events)], description, encryptWebhookSecret(secret, webhookKey)];
  const [row] = await insertEndpoint(em, [...ownerValues, ...endpointValues]);
  if (!row) throw new Error('inserting a webhook endpoint returned no row');
  return { ...endpointFromRow(row), secret };
}

/** Rejects a URL to which webhooks must not be sent. */
export function assertWebhookUrlAllowed(url: string, development: boolean): void {
  const reason = urlRejectionReason(url, development);
  if (reason === undefined) return;
  throw createInvalidRequestProblem({ in: 'body', pointer: '#/url', code: 'invalid_value', detail: `The URL ${reason}.` });
}
