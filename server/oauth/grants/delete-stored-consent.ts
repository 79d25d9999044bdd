import { Application } from '../../applications/application.entity.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { UserConsent } from './consent.entity.ts';

/**
 * Deletes a user's stored consent for an application, so that the application's next authorization request shows the consent page. The
 * consent is also deleted when a user sets limits. The stored consent does not contain limits, so an authorization request without a
 * consent page would give the application unlimited access.
 */
export async function deleteStoredConsent(em: EntityManager, userId: number, clientId: string): Promise<void> {
  const applicationId = em.createQueryBuilder(Application).select('id').where({ clientId });
  await em.nativeDelete(UserConsent, { user: userId, application: { $in: applicationId.toRaw() } });
}
