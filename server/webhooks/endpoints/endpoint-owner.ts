import type { Em } from '../../database/entity-manager/entity-manager.ts';
import { statement } from '../../database/queries/prepared-statement.ts';
import type { Principal } from '../../http/request/principal.ts';
import type { Authority } from './webhook.entity.ts';

/** Whose endpoints a principal has in hand, and what a new one of theirs acts for. */
export type Owner = {
  readonly authority: Authority;
  readonly userId: number | null;
  readonly clientId: string;
  readonly applicationId: number | null;
  readonly apiKeyId: number | null;
};

const findApplication = statement<{ id: number; first_party: boolean }>(
  'find_application_of_owner',
  'select id, first_party from applications where client_id = $1',
);

/**
 * An endpoint must not outlive what it was made with, unless a person made it with an application of the shop: that is as if they
 * had made it themselves, and signing out of the application is no reason to stop it.
 */
export async function ownerOf(em: Em, { user, clientId }: Principal): Promise<Owner> {
  const key = /^api-key-(\d+)$/.exec(clientId)?.[1];
  const [application] = key === undefined ? await findApplication(em, [clientId]) : [];
  const owner = { userId: user?.id ?? null, clientId, applicationId: null, apiKeyId: null };
  if (key !== undefined) return { ...owner, authority: 'api_key', apiKeyId: Number(key) };
  if (!application) throw new Error(`the application ${clientId} is gone`);
  if (!user) return { ...owner, authority: 'application', applicationId: application.id };
  return application.first_party ? { ...owner, authority: 'person' } : { ...owner, authority: 'grant', applicationId: application.id };
}

/** The condition on an endpoint `e` that says it is the owner's, of the parameters $1 and $2 that `ownerParameters` gives. */
export const isOwners = `($1::bigint is not distinct from e.user_id and ($2::text is null or e.client_id = $2))`;

/** Somebody else's application sees what it registered itself: what others registered may see more than it may. */
export const ownerParameters = ({ authority, userId, clientId }: Owner): [number | null, string | null] => [
  userId,
  authority === 'person' ? null : clientId,
];
