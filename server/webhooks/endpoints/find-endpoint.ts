import type { WebhookEndpoint } from '@mandate/contract';
import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { statement } from '../../database/queries/prepared-statement.ts';
import type { Principal } from '../../http/request/principal.ts';
import { problem } from '../../http/problem-details/problem.ts';
import { endpointColumns, type EndpointRow, toEndpoint } from './endpoint-rows.ts';
import { isOwners, ownerOf, ownerParameters } from './endpoint-owner.ts';

const list = statement<EndpointRow>(
  'list_webhook_endpoints',
  `select ${endpointColumns} from webhook_endpoints e where ${isOwners} and ($3::bigint is null or e.id < $3) order by e.id desc limit $4`,
);
const find = statement<EndpointRow>(
  'find_webhook_endpoint',
  `select ${endpointColumns} from webhook_endpoints e where ${isOwners} and e.id = $3`,
);
const lock = statement<EndpointRow>(
  'lock_webhook_endpoint',
  `select ${endpointColumns} from webhook_endpoints e where ${isOwners} and e.id = $3 for no key update`,
);

/** Returns up to `limit + 1` endpoints of a principal, newest first. */
export const listEndpoints = async (em: Em, principal: Principal, before: number | null, limit: number): Promise<EndpointRow[]> =>
  list(em, [...ownerParameters(await ownerOf(em, principal)), before, limit + 1]);

/** Returns an endpoint of the principal; with `lock`, it is locked until the transaction ends. Endpoints of other owners are not found. */
export async function findEndpoint(em: Em, principal: Principal, id: number, hold?: 'lock'): Promise<WebhookEndpoint> {
  const [row] = await (hold ? lock : find)(em, [...ownerParameters(await ownerOf(em, principal)), id]);
  if (!row) throw problem('not_found', { detail: `Webhook endpoint ${id} was not found.` });
  return toEndpoint(row);
}

/** Returns an endpoint like `findWebhookEndpoint`, locked; throws if it is disabled. Used before a delivery is requested. */
export async function findEnabled(em: Em, principal: Principal, id: number): Promise<WebhookEndpoint> {
  const endpoint = await findEndpoint(em, principal, id, 'lock');
  if (endpoint.status === 'enabled') return endpoint;
  throw problem('webhook_endpoint_disabled', {
    detail: `The webhook endpoint is disabled (${endpoint.disabled_reason}). Enable it first.`,
  });
}
