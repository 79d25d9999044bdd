import type { EntityManager } from '../../../../database/entity-manager/entity-manager-type.ts';
import { StoredPasswordHash } from '../../../passwords/stored-password-hash.entity.ts';
import { countRecoveryCodes, findWhenAuthenticatorAppWasAdded } from '../../../second-factors/authenticator-app-and-recovery-codes.ts';
import { Passkey } from '../../../second-factors/second-factors-and-used-identifiers.entity.ts';
import { countActiveBrowserSessionsOfUser } from '../../../sessions/record-list-and-revoke-browser-sessions.ts';
import type { SecuritySummary } from '../../views/account/account-home-page.ts';

export async function loadSecuritySummary(em: EntityManager, userId: number, now: Date): Promise<SecuritySummary> {
  const password = await em.findOne(StoredPasswordHash, { user: userId }, { fields: ['changedAt'], disableIdentityMap: true });
  const hasAuthenticatorApp = (await findWhenAuthenticatorAppWasAdded(em, userId)) !== undefined;
  return {
    passwordChangedAt: password?.changedAt,
    passkeys: await em.count(Passkey, { user: userId }),
    hasAuthenticatorApp,
    recoveryCodes: hasAuthenticatorApp ? await countRecoveryCodes(em, userId) : 0,
    sessions: await countActiveBrowserSessionsOfUser(em, userId, now),
  };
}
