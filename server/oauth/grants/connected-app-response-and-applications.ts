import type { ConnectedApp } from '@mandate/contract';
import { Application } from '../../applications/application.entity.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';

type ConnectedAppFields = {
  readonly id: number;
  readonly clientId: string;
  readonly device?: string | null | undefined;
  readonly scopes: string[];
  readonly createdAt: Date | string;
  readonly lastUsedAt?: Date | string | null | undefined;
};
type ApplicationFields = Pick<ConnectedApp['application'], 'name'> & { readonly firstParty: boolean };

/** Converts a connected app to its API representation. `application` is undefined if the application has been deleted. */
export const connectedAppResponseFromFields = (
  { id, clientId, device = null, scopes, createdAt, lastUsedAt }: ConnectedAppFields,
  application: ApplicationFields | undefined,
): ConnectedApp => ({
  id,
  application: { client_id: clientId, name: application?.name ?? clientId, first_party: application?.firstParty ?? false },
  device,
  scopes,
  created_at: new Date(createdAt).toISOString(),
  last_used_at: new Date(lastUsedAt ?? createdAt).toISOString(),
});

/** Returns the applications of the given connected apps, by client ID. */
export async function findApplicationsOfConnectedApps(
  em: EntityManager,
  apps: readonly Pick<ConnectedAppFields, 'clientId'>[],
): Promise<Map<string, ApplicationFields>> {
  const where = { clientId: { $in: [...new Set(apps.map(({ clientId }) => clientId))] } };
  const fields = ['clientId', 'name', 'firstParty'] as const;
  const applications = await em.find(Application, where, { fields, disableIdentityMap: true });
  return new Map(applications.map((application) => [application.clientId, application]));
}
