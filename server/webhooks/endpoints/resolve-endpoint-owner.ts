import { Application } from '../../applications/application.entity.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import type { Principal } from '../../http/request/principal-and-token-types.ts';
import { getClientIdIfRestrictedToOwnOrders } from '../../http/request/get-client-id-if-restricted-to-own-orders.ts';
import type { EndpointAccessBasis } from './webhook-endpoint-and-delivery.entity.ts';

/**
 * The owner of the endpoints that a principal manages. `authority` specifies the type of authorization on which the access of new endpoints
 * is based.
 */
export type EndpointOwner = {
  readonly authority: EndpointAccessBasis;
  readonly userId: number | null;
  readonly clientId: string;
  readonly applicationId: number | null;
  readonly apiKeyId: number | null;
};

/**
 * Returns the owner of a principal's endpoints. An endpoint must not outlive the credential that created it, unless a user created the
 * endpoint with a first-party application. An endpoint that a user created in this way belongs to the user, and is not disabled when the
 * user signs out of the application. Because such an endpoint receives the events of all the user's orders, an application that can access
 * only its own orders can neither create nor manage it.
 */
export async function resolveEndpointOwner(em: EntityManager, principal: Principal): Promise<EndpointOwner> {
  const { user, clientId } = principal;
  const key = /^api-key-(\d+)$/.exec(clientId)?.[1];
  const options = { fields: ['firstParty'], disableIdentityMap: true } as const;
  const application = key === undefined ? await em.findOne(Application, { clientId }, options) : null;
  const owner = { userId: user?.id ?? null, clientId, applicationId: null, apiKeyId: null };
  if (key !== undefined) return { ...owner, authority: 'api_key', apiKeyId: Number(key) };
  if (!application) throw new Error(`the application ${clientId} does not exist`);
  if (!user) return { ...owner, authority: 'application', applicationId: application.id };
  const belongsToUser = application.firstParty && getClientIdIfRestrictedToOwnOrders(principal) === undefined;
  return belongsToUser ? { ...owner, authority: 'person' } : { ...owner, authority: 'grant', applicationId: application.id };
}

/**
 * Returns the filter for an owner's endpoints. A third-party application sees only the endpoints that it registered, because other
 * endpoints may receive more events.
 */
export const buildEndpointOwnerFilter = ({ authority, userId, clientId }: EndpointOwner) => ({
  user: userId,
  ...(authority !== 'person' && { clientId, authority }),
});
