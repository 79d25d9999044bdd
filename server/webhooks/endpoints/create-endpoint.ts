import { type WebhookEndpoint, type WebhookEndpointCreate, webhookEndpointsMax } from '@mandate/contract';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { statement } from '../../database/queries/prepared-statement.ts';
import type { Principal } from '../../http/request/principal.ts';
import { invalidRequest, problem } from '../../http/problem-details/problem.ts';
import { allowedScopes } from '../../http/middleware/authorize.ts';
import { endpointColumns, type EndpointRow, toEndpoint } from './endpoint-rows.ts';
import { urlFault } from '../../outgoing-http/public-url.ts';
import { ownerOf } from './endpoint-owner.ts';
import { newSecret, sealSecret } from './webhook-signature.ts';

/** Additional dependencies of the webhook handlers. */
export type WebhookDeps = {
  /** Encryption key of the endpoint secrets. */
  readonly webhookKey: Buffer;
  /** Whether http URLs of this machine are accepted. */
  readonly development: boolean;
};

// Serializes concurrent requests of one owner, so that each counts the endpoints of the others.
const lockOwner = statement('take_turns_creating_webhook_endpoints', 'select pg_advisory_xact_lock(hashtextextended($1, 20261121))');
const countEndpoints = statement<{ count: number }>(
  'count_webhook_endpoints',
  `select count(*) as count from webhook_endpoints where user_id = $1 or ($1::bigint is null and user_id is null and client_id = $2)`,
);
const insertEndpoint = statement<EndpointRow>(
  'insert_webhook_endpoint',
  `insert into webhook_endpoints as e (authority, client_id, user_id, application_id, api_key_id, scopes, url, events, description, sealed_secret)
   values ($1, $2, $3, $4, $5, $6::text[], $7, $8::text[], $9, $10) returning ${endpointColumns}`,
);

/** Creates an endpoint; requires a transaction. Only this response contains the secret in plain text; the stored secret is encrypted. */
export async function createEndpoint(
  em: Em,
  principal: Principal,
  { url, events, description = null }: WebhookEndpointCreate,
  { webhookKey, development }: WebhookDeps,
): Promise<WebhookEndpoint & { secret: string }> {
  refuseUrl(url, development);
  const { authority, clientId, userId, applicationId, apiKeyId } = await ownerOf(em, principal);
  await lockOwner(em, [userId === null ? clientId : String(userId)]);
  const [counted] = await countEndpoints(em, [userId, clientId]);
  if ((counted?.count ?? 0) >= webhookEndpointsMax) {
    throw problem('too_many_webhook_endpoints', {
      detail: `An owner can have ${webhookEndpointsMax} webhook endpoints. Delete one that is no longer needed.`,
    });
  }
  const secret = newSecret();
  const ownerValues = [authority, clientId, userId, applicationId, apiKeyId, allowedScopes(principal)];
  const endpointValues = [new URL(url).href, [...new Set(events)], description, sealSecret(secret, webhookKey)];
  const [row] = await insertEndpoint(em, [...ownerValues, ...endpointValues]);
  if (!row) throw new Error('inserting a webhook endpoint returned no row');
  return { ...toEndpoint(row), secret };
}

/** Rejects a URL to which webhooks must not be sent. */
export function refuseUrl(url: string, development: boolean): void {
  const reason = urlFault(url, development);
  if (reason === undefined) return;
  throw invalidRequest({ in: 'body', pointer: '#/url', code: 'invalid_value', detail: `The URL ${reason}.` });
}
