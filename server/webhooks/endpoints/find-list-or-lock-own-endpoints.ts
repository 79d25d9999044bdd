import type { WebhookEndpoint as WebhookEndpointBody } from '@mandate/contract';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { lockRows } from '../../database/queries/lock-rows.sql.ts';
import type { Principal } from '../../http/request/principal-and-token-types.ts';
import { createProblem, type Problem } from '../../http/problem-details/problem.ts';
import { translatable } from '../../http/problem-details/translatable-text.ts';
import { endpointFromEntity, type EndpointEntity } from './endpoint-and-delivery-from-entity.ts';
import { buildEndpointOwnerFilter, resolveEndpointOwner } from './resolve-endpoint-owner.ts';
import { WebhookEndpoint } from './webhook-endpoint-and-delivery.entity.ts';

/** Returns up to `limit + 1` of a principal's endpoints, newest first. */
export async function listOwnWebhookEndpoints(
  em: EntityManager,
  principal: Principal,
  before: number | undefined,
  limit: number,
): Promise<EndpointEntity[]> {
  const where = {
    ...buildEndpointOwnerFilter(await resolveEndpointOwner(em, principal)),
    ...(before !== undefined && { id: { $lt: before } }),
  };
  return em.find(WebhookEndpoint, where, { orderBy: { id: 'desc' }, limit: limit + 1, disableIdentityMap: true });
}

/** Returns one of the principal's endpoints. Other owners' endpoints are not found. */
export async function findOwnWebhookEndpointOrThrow(em: EntityManager, principal: Principal, id: number): Promise<WebhookEndpointBody> {
  const where = { id, ...buildEndpointOwnerFilter(await resolveEndpointOwner(em, principal)) };
  const endpoint = await em.findOne(WebhookEndpoint, where, { disableIdentityMap: true });
  if (!endpoint) throw endpointNotFound(id);
  return endpointFromEntity(endpoint);
}

/** Like `findOwnWebhookEndpointOrThrow`, but locks the endpoint until the transaction ends. */
export async function lockOwnWebhookEndpoint(em: EntityManager, principal: Principal, id: number): Promise<EndpointEntity> {
  const where = { id, ...buildEndpointOwnerFilter(await resolveEndpointOwner(em, principal)) };
  const locked = await lockRows(em, em.createQueryBuilder(WebhookEndpoint).select('id').where(where));
  if (locked.length === 0) throw endpointNotFound(id);
  return em.findOneOrFail(WebhookEndpoint, { id }, { refresh: true });
}

const endpointNotFound = (id: number): Problem =>
  createProblem('not_found', { detail: translatable`Webhook endpoint ${{ id }} was not found.` });

/** Like `lockOwnWebhookEndpoint`, but throws if the endpoint is disabled. Redeliveries and test webhooks require an enabled endpoint. */
export async function lockOwnEnabledWebhookEndpoint(em: EntityManager, principal: Principal, id: number): Promise<WebhookEndpointBody> {
  const endpoint = endpointFromEntity(await lockOwnWebhookEndpoint(em, principal, id));
  if (endpoint.status === 'enabled') return endpoint;
  throw createProblem('webhook_endpoint_disabled', {
    detail: translatable`The webhook endpoint is disabled (${{ reason: endpoint.disabled_reason ?? '' }}). Enable it first.`,
  });
}
