import { Application } from '../../applications/application.entity.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { UserConsent } from './consent.entity.ts';

/**
 * Deletes the stored consent to an application, so that its next authorization request shows the consent page. A user who sets limits needs
 * this, too: the stored consent has no limits, so a request without a consent page would give the application unlimited access.
 */
export async function deleteStoredConsent(em: EntityManager, userId: number, clientId: string): Promise<void> {
  const applicationId = em.createQueryBuilder(Application).select('id').where({ clientId });
  await em.nativeDelete(UserConsent, { user: userId, application: { $in: applicationId.toRaw() } });
}
