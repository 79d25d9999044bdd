import type { WebhookEndpoint, WebhookEndpointUpdate } from '@mandate/contract';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import type { Principal } from '../../http/request/principal.ts';
import { createProblem } from '../../http/problem-details/problem.ts';
import { allowedScopes } from '../../http/middleware/authorize.ts';
import { assertWebhookUrlAllowed, type WebhookDependencies } from './create-endpoint.ts';
import { completeEndpointDisabling } from './disable-endpoint.ts';
import { endpointColumnsSql, type EndpointRow, endpointFromRow } from './endpoint-rows.ts';
import { generateWebhookSecret, encryptWebhookSecret } from './webhook-signature.ts';

// An endpoint gets the visibility of the principal that updates it. A new URL or enabling the endpoint resets its failure state.
const update = prepareStatement<EndpointRow>(
  'update_webhook_endpoint',
  `update webhook_endpoints e
      set url = $2, events = $3::text[], description = $4, scopes = $5::text[], status = $6, disabled_reason = $7,
          failing_since = case when $2 = url and status = 'enabled' then failing_since end,
          paused_until = case when $2 = url and status = 'enabled' then paused_until end,
          version = version + 1, updated_at = now()
    where id = $1 returning ${endpointColumnsSql}`,
);

/** Applies a merge patch (RFC 7396) to a locked endpoint. An update without effect does not change the version. */
export async function updateWebhookEndpoint(
  em: EntityManager,
  principal: Principal,
  endpoint: WebhookEndpoint,
  { url, events, description, status }: WebhookEndpointUpdate,
  { development }: WebhookDependencies,
): Promise<WebhookEndpoint> {
  if (url !== undefined) assertWebhookUrlAllowed(url, development);
  const before = { url: endpoint.url, events: endpoint.events, description: endpoint.description, status: endpoint.status };
  const after = {
    url: url === undefined ? before.url : new URL(url).href,
    events: events === undefined ? before.events : [...new Set(events)],
    description: description === undefined ? before.description : description,
    status: status ?? before.status,
  };
  if (JSON.stringify(after) === JSON.stringify(before)) return endpoint;
  const reason = after.status === 'enabled' ? null : (endpoint.disabled_reason ?? 'manual');
  const values = [after.url, after.events, after.description, allowedScopes(principal), after.status, reason];
  const [row] = await update(em, [endpoint.id, ...values]);
  if (!row) throw new Error('updating a webhook endpoint returned no row');
  const changed = endpointFromRow(row);
  if (after.status === 'disabled' && before.status === 'enabled') await completeEndpointDisabling(em, changed);
  return changed;
}

const deleteRow = prepareStatement('delete_webhook_endpoint', 'delete from webhook_endpoints where id = $1');
export const deleteWebhookEndpoint = (em: EntityManager, id: number) => deleteRow(em, [id]);

const rotateRow = prepareStatement<{ until: string }>(
  'rotate_webhook_secret',
  `update webhook_endpoints set previous_sealed_secret = case when $3 > 0 then sealed_secret end,
          previous_secret_until = case when $3 > 0 then $4::timestamptz + make_interval(secs => $3) end,
          sealed_secret = $2, version = version + 1, updated_at = now()
    where id = $1 and ($3 = 0 or previous_secret_until is null or previous_secret_until <= $4::timestamptz)
   returning $4::timestamptz + make_interval(secs => $3) as until`,
);

/**
 * Creates a new secret; the previous secret also signs during the overlap. Rejects a rotation during an overlap, because a third secret
 * would have to remain valid.
 */
export async function rotateWebhookSecret(
  em: EntityManager,
  id: number,
  overlapSeconds: number,
  key: Buffer,
  now: Date,
): Promise<{ secret: string; until: string }> {
  const secret = generateWebhookSecret();
  const [rotated] = await rotateRow(em, [id, encryptWebhookSecret(secret, key), overlapSeconds, now]);
  if (rotated) return { secret, until: new Date(rotated.until).toISOString() };
  throw createProblem('secret_still_overlaps', {
    detail: 'The previous secret still signs. Wait until it expires, or invalidate it with `overlap_seconds: 0`.',
  });
}
