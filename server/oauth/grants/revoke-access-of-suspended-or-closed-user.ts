import { revokeApiKeys } from '../../api-keys/revoke-api-keys.ts';
import type { RevokeAccess } from '../../http/routing/handler-dependencies.ts';
import { deleteEmailedLinksOfUser } from '../accounts/emailed-one-time-links.ts';
import { StoredPasswordHash } from '../passwords/stored-password-hash.entity.ts';
import { AuthenticatorApp, Passkey, RecoveryCode } from '../second-factors/second-factors-and-used-identifiers.entity.ts';
import { deleteSessionsAndQueueLogoutTokens } from '../back-channel-logout/delete-sessions-and-queue-logout-tokens.ts';
import { LinkedAccount } from '../linked-accounts/linked-account.entity.ts';
import { OauthRecord } from '../storage/oauth-record.entity.ts';
import { BrowserSession } from '../sessions/browser-session.entity.ts';
import { UserConsent } from './consent.entity.ts';
import { revokeGrantsAndSessionsOfUser } from './revoke-grants-and-sessions-of-user.ts';

/**
 * Revokes a user's access when the user is suspended or the account is closed. A suspended user is signed out everywhere; grants,
 * credentials and API keys are kept and work again after reactivation. When an account is closed, its grants, credentials and API keys are
 * deleted or revoked.
 */
export const revokeAccessOfSuspendedOrClosedUser: RevokeAccess = async (em, userId, reason) => {
  await deleteSessionsAndQueueLogoutTokens(em, { accountId: String(userId) });
  await em.nativeDelete(OauthRecord, { accountId: String(userId), model: 'Interaction' });
  await em.nativeDelete(BrowserSession, { user: userId });
  if (reason === 'suspended') return;
  await revokeGrantsAndSessionsOfUser(em, userId);
  await revokeApiKeys(em, { userId }, undefined, new Date());
  await em.nativeDelete(StoredPasswordHash, { user: userId });
  await em.nativeDelete(UserConsent, { user: userId });
  await em.nativeDelete(AuthenticatorApp, { user: userId });
  await em.nativeDelete(RecoveryCode, { user: userId });
  await em.nativeDelete(Passkey, { user: userId });
  await em.nativeDelete(LinkedAccount, { user: userId });
  await deleteEmailedLinksOfUser(em, userId);
};
