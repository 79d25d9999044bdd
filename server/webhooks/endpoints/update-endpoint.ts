import type { WebhookEndpoint, WebhookEndpointUpdate } from '@mandate/contract';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { statement } from '../../database/queries/prepared-statement.ts';
import type { Principal } from '../../http/request/principal.ts';
import { problem } from '../../http/problem-details/problem.ts';
import { allowedScopes } from '../../http/middleware/authorize.ts';
import { refuseUrl, type WebhookDeps } from './create-endpoint.ts';
import { afterDisabling } from './disable-endpoint.ts';
import { endpointColumns, type EndpointRow, toEndpoint } from './endpoint-rows.ts';
import { newSecret, sealSecret } from './webhook-signature.ts';

// Whoever changes where it sends, or what, gives it what they can see, and no more. Elsewhere, or enabled anew, it begins anew.
const update = statement<EndpointRow>(
  'update_webhook_endpoint',
  `update webhook_endpoints e
      set url = $2, events = $3::text[], description = $4, scopes = $5::text[], status = $6, disabled_reason = $7,
          failing_since = case when $2 = url and status = 'enabled' then failing_since end,
          paused_until = case when $2 = url and status = 'enabled' then paused_until end,
          version = version + 1, updated_at = now()
    where id = $1 returning ${endpointColumns}`,
);

/** A merge patch on an endpoint that is locked. What changes nothing leaves the version as it is. */
export async function changeEndpoint(
  em: Em,
  principal: Principal,
  endpoint: WebhookEndpoint,
  { url, events, description, status }: WebhookEndpointUpdate,
  { development }: WebhookDeps,
): Promise<WebhookEndpoint> {
  if (url !== undefined) refuseUrl(url, development);
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
  if (!row) throw new Error('updating a webhook endpoint gave no row');
  const changed = toEndpoint(row);
  if (after.status === 'disabled' && before.status === 'enabled') await afterDisabling(em, changed);
  return changed;
}

const removeEndpoint = statement('delete_webhook_endpoint', 'delete from webhook_endpoints where id = $1');
export const deleteEndpoint = (em: Em, id: number) => removeEndpoint(em, [id]);

const rotate = statement<{ until: string }>(
  'rotate_webhook_secret',
  `update webhook_endpoints set previous_sealed_secret = case when $3 > 0 then sealed_secret end,
          previous_secret_until = case when $3 > 0 then $4::timestamptz + make_interval(secs => $3) end,
          sealed_secret = $2, version = version + 1, updated_at = now()
    where id = $1 and ($3 = 0 or previous_secret_until is null or previous_secret_until <= $4::timestamptz)
   returning $4::timestamptz + make_interval(secs => $3) as until`,
);

/** A new secret; the one before signs as well for as long as is said. Two overlaps at a time would leave a third secret nobody thinks of. */
export async function rotateSecret(
  em: Em,
  id: number,
  overlapSeconds: number,
  key: Buffer,
  now: Date,
): Promise<{ secret: string; until: string }> {
  const secret = newSecret();
  const [rotated] = await rotate(em, [id, sealSecret(secret, key), overlapSeconds, now]);
  if (rotated) return { secret, until: new Date(rotated.until).toISOString() };
  throw problem('secret_still_overlaps', {
    detail: 'The secret before the present one still signs. Wait for its end, or end it with `overlap_seconds: 0`.',
  });
}
