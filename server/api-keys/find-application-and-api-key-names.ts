import { Application } from '../applications/application.entity.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { ApiKey } from './api-key.entity.ts';

const apiKeyPrefix = 'api-key-';

/** Returns the names of applications and API keys, keyed by client ID. Deleted applications and API keys are omitted. */
export async function findApplicationAndApiKeyNames(em: EntityManager, clientIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const keyIds = clientIds.filter((id) => /^api-key-\d+$/.test(id)).map((id) => Number(id.slice(apiKeyPrefix.length)));
  const options = { disableIdentityMap: true } as const;
  const applications = await em.find(Application, { clientId: { $in: [...clientIds] } }, { ...options, fields: ['clientId', 'name'] });
  const apiKeys = keyIds.length === 0 ? [] : await em.find(ApiKey, { id: { $in: keyIds } }, { ...options, fields: ['id', 'name'] });
  return new Map([
    ...apiKeys.map(({ id, name }) => [`${apiKeyPrefix}${id}`, name] as const),
    ...applications.map(({ clientId, name }) => [clientId, name] as const),
  ]);
}
