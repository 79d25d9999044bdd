import type { WebhookEndpoint } from '@mandate/contract';
import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import type { Principal } from '../../http/request/principal.ts';
import { createProblem } from '../../http/problem-details/problem.ts';
import { endpointColumnsSql, type EndpointRow, endpointFromRow } from './endpoint-rows.ts';
import { ownerConditionSql, resolveEndpointOwner, ownerConditionParameters } from './endpoint-owner.ts';

const list = prepareStatement<EndpointRow>(
  'list_webhook_endpoints',
  `select ${endpointColumnsSql} from webhook_endpoints e where ${ownerConditionSql} and ($3::bigint is null or e.id < $3) order by e.id desc limit $4`,
);
const find = prepareStatement<EndpointRow>(
  'find_webhook_endpoint',
  `select ${endpointColumnsSql} from webhook_endpoints e where ${ownerConditionSql} and e.id = $3`,
);
const lock = prepareStatement<EndpointRow>(
  'lock_webhook_endpoint',
  `select ${endpointColumnsSql} from webhook_endpoints e where ${ownerConditionSql} and e.id = $3 for no key update`,
);

/** Returns up to `limit + 1` endpoints of a principal, newest first. */
export const listWebhookEndpoints = async (
  em: EntityManager,
  principal: Principal,
  before: number | null,
  limit: number,
): Promise<EndpointRow[]> => list(em, [...ownerConditionParameters(await resolveEndpointOwner(em, principal)), before, limit + 1]);

/** Returns an endpoint of the principal; with `lock`, it is locked until the transaction ends. Endpoints of other owners are not found. */
export async function findWebhookEndpoint(em: EntityManager, principal: Principal, id: number, hold?: 'lock'): Promise<WebhookEndpoint> {
  const [row] = await (hold ? lock : find)(em, [...ownerConditionParameters(await resolveEndpointOwner(em, principal)), id]);
  if (!row) throw createProblem('not_found', { detail: `Webhook endpoint ${id} was not found.` });
  return endpointFromRow(row);
}

/** Returns an endpoint like `findWebhookEndpoint`, locked; throws if it is disabled. Used before a delivery is requested. */
export async function lockEnabledEndpoint(em: EntityManager, principal: Principal, id: number): Promise<WebhookEndpoint> {
  const endpoint = await findWebhookEndpoint(em, principal, id, 'lock');
  if (endpoint.status === 'enabled') return endpoint;
  throw createProblem('webhook_endpoint_disabled', {
    detail: `The webhook endpoint is disabled (${endpoint.disabled_reason}). Enable it first.`,
  });
}
