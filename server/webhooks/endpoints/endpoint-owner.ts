import type { EntityManager } from '../../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../../database/queries/prepared-statement.ts';
import type { Principal } from '../../http/request/principal.ts';
import type { WebhookAuthority } from './webhook.entity.ts';

/** The owner of the endpoints that a principal manages, and the authority that new endpoints get. */
export type EndpointOwner = {
  readonly authority: WebhookAuthority;
  readonly userId: number | null;
  readonly clientId: string;
  readonly applicationId: number | null;
  readonly apiKeyId: number | null;
};

const findApplication = prepareStatement<{ id: number; first_party: boolean }>(
  'find_application_of_owner',
  'select id, first_party from applications where client_id = $1',
);

/**
 * Returns the owner of the endpoints of a principal. An endpoint must not outlive the credential that created it, except if a user created
 * it with a first-party application: then it belongs to the user, and signing out of the application does not disable it.
 */
export async function resolveEndpointOwner(em: EntityManager, { user, clientId }: Principal): Promise<EndpointOwner> {
  const key = /^api-key-(\d+)$/.exec(clientId)?.[1];
  const [application] = key === undefined ? await findApplication(em, [clientId]) : [];
  const owner = { userId: user?.id ?? null, clientId, applicationId: null, apiKeyId: null };
  if (key !== undefined) return { ...owner, authority: 'api_key', apiKeyId: Number(key) };
  if (!application) throw new Error(`the application ${clientId} does not exist`);
  if (!user) return { ...owner, authority: 'application', applicationId: application.id };
  return application.first_party ? { ...owner, authority: 'person' } : { ...owner, authority: 'grant', applicationId: application.id };
}

/** SQL condition that an endpoint `e` belongs to the owner given by `$1` and `$2`; see `ownerConditionParameters`. */
export const ownerConditionSql = `($1::bigint is not distinct from e.user_id and ($2::text is null or e.client_id = $2))`;

/**
 * Returns the parameters of the condition. A third-party application sees only the endpoints that it registered: others may see more
 * events.
 */
export const ownerConditionParameters = ({ authority, userId, clientId }: EndpointOwner): [number | null, string | null] => [
  userId,
  authority === 'person' ? null : clientId,
];
