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

/** What the handlers of webhooks are made with. */
export type WebhookDeps = {
  /** What the secrets of endpoints are sealed with. */
  readonly webhookKey: Buffer;
  /** Whether http to this machine is accepted. */
  readonly development: boolean;
};

// Two requests of one owner count one after the other.
const takeTurns = statement('take_turns_creating_webhook_endpoints', 'select pg_advisory_xact_lock(hashtextextended($1, 20261121))');
const countEndpoints = statement<{ count: number }>(
  'count_webhook_endpoints',
  `select count(*) as count from webhook_endpoints where user_id = $1 or ($1::bigint is null and user_id is null and client_id = $2)`,
);
const insertEndpoint = statement<EndpointRow>(
  'insert_webhook_endpoint',
  `insert into webhook_endpoints as e (authority, client_id, user_id, application_id, api_key_id, scopes, url, events, description, sealed_secret)
   values ($1, $2, $3, $4, $5, $6::text[], $7, $8::text[], $9, $10) returning ${endpointColumns}`,
);

/** In a transaction. The secret is in this answer; what is kept is sealed. */
export async function createEndpoint(
  em: Em,
  principal: Principal,
  { url, events, description = null }: WebhookEndpointCreate,
  { webhookKey, development }: WebhookDeps,
): Promise<WebhookEndpoint & { secret: string }> {
  refuseUrl(url, development);
  const { authority, clientId, userId, applicationId, apiKeyId } = await ownerOf(em, principal);
  await takeTurns(em, [userId === null ? clientId : String(userId)]);
  const [counted] = await countEndpoints(em, [userId, clientId]);
  if ((counted?.count ?? 0) >= webhookEndpointsMax) {
    throw problem('too_many_webhook_endpoints', {
      detail: `There can be ${webhookEndpointsMax} at a time. Delete one that is not needed any more.`,
    });
  }
  const secret = newSecret();
  const acting = [authority, clientId, userId, applicationId, apiKeyId, allowedScopes(principal)];
  const sending = [new URL(url).href, [...new Set(events)], description, sealSecret(secret, webhookKey)];
  const [row] = await insertEndpoint(em, [...acting, ...sending]);
  if (!row) throw new Error('inserting a webhook endpoint gave no row');
  return { ...toEndpoint(row), secret };
}

export function refuseUrl(url: string, development: boolean): void {
  const fault = urlFault(url, development);
  if (fault === undefined) return;
  throw invalidRequest({ in: 'body', pointer: '#/url', code: 'invalid_value', detail: `The address ${fault}.` });
}
