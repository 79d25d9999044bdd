import { recordAuditEvent, type RequestSource } from '../../audit/record-audit-event.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import type { IdentityProviderRow } from '../../identity-providers/identity-provider.entity.ts';
import { lockUserRow } from '../../users/lock-user-row.ts';
import { User } from '../../users/user.entity.ts';
import { deleteSessionsAndQueueLogoutTokens } from '../back-channel-logout/delete-sessions-and-queue-logout-tokens.ts';
import { ConnectedAppEntity } from '../grants/connected-app.entity.ts';
import { deleteRevokedGrantDataAndRecordEvents } from '../grants/delete-apps-and-limits-of-revoked-grants.ts';
import { revokeGrantsAndSessionsOfUser } from '../grants/revoke-grants-and-sessions-of-user.ts';
import { BrowserSession } from '../sessions/browser-session.entity.ts';
import { OauthRecord } from '../storage/oauth-record.entity.ts';
import { LinkedAccount, type LinkedAccountRow } from '../linked-accounts/linked-account.entity.ts';
import { clearedRefreshTokenColumns } from '../linked-accounts/linked-account-refresh-token.ts';
import { findLinkedAccountByIdentity } from '../linked-accounts/linked-accounts-and-enabled-providers.ts';

/**
 * Ends a user's sessions on this server after the provider has ended the user's session or account. If staff must sign in through this
 * provider, a staff member's grants are also revoked, because the provider determines who still works for the company. An unknown account
 * is ignored.
 */
export async function endAccessAfterProviderLogout(
  em: EntityManager,
  provider: IdentityProviderRow,
  account: { readonly issuer: string; readonly subject: string },
  source: RequestSource,
  now: Date,
): Promise<void> {
  await em.transactional(async (inner) => {
    const linked = await findLinkedAccountByIdentity(inner, account);
    if (!linked) return;
    const userId = linked.user;
    await lockUserRow(inner, userId);
    if (await mustSignInThrough(inner, provider, userId)) await revokeGrantsAndSessionsOfUser(inner, userId);
    else {
      await deleteSessionsAndQueueLogoutTokens(inner, { accountId: String(userId) });
      await inner.nativeDelete(BrowserSession, { user: userId });
    }
    await auditEnd(inner, provider, userId, source, now);
  });
}

/**
 * Revokes a user's access after a provider has refused the refresh token of the user's linked account. Deletes the sessions that the user
 * started through this account, and the grants created in these sessions. If staff must sign in through this provider, all access of a
 * staff member is revoked.
 * @returns false if the refresh token has been replaced by a new sign-in, which proves that the account exists
 */
export async function endAccessAfterProviderRejection(
  em: EntityManager,
  provider: IdentityProviderRow,
  { id, user: userId, sealedRefreshToken }: LinkedAccountRow,
  source: RequestSource,
  now: Date,
): Promise<boolean> {
  return em.transactional(async (inner) => {
    await lockUserRow(inner, userId);
    const isCurrent = (await inner.nativeUpdate(LinkedAccount, { id, sealedRefreshToken }, clearedRefreshTokenColumns)) > 0;
    if (!isCurrent) return false;
    if (await mustSignInThrough(inner, provider, userId)) await revokeGrantsAndSessionsOfUser(inner, userId);
    else await revokeGrantsAndSessionsOfLinkedAccount(inner, userId, id);
    await auditEnd(inner, provider, userId, source, now);
    return true;
  });
}

/** Returns whether a user is a staff member who must sign in through this provider. */
const mustSignInThrough = async (em: EntityManager, { requiredForStaff }: IdentityProviderRow, userId: number): Promise<boolean> =>
  requiredForStaff && (await em.count(User, { id: userId, role: { $in: ['staff', 'admin'] } })) > 0;

async function revokeGrantsAndSessionsOfLinkedAccount(em: EntityManager, userId: number, linkedAccountId: number): Promise<void> {
  const throughAccount = { user: userId, linkedAccountId };
  const apps = await em.find(ConnectedAppEntity, throughAccount, { disableIdentityMap: true });
  const grantIds = apps.map(({ grantId }) => grantId);
  // Deletes the grants first. A request that is issuing a token has locked its grant, so this statement waits until that request has
  // finished.
  await em.nativeDelete(OauthRecord, { model: 'Grant', id: { $in: grantIds } });
  await em.nativeDelete(OauthRecord, { grantId: { $in: grantIds } });
  const sessions = await em.find(BrowserSession, throughAccount, { disableIdentityMap: true });
  for (const { uid } of sessions) await deleteSessionsAndQueueLogoutTokens(em, { accountId: String(userId), uid });
  await em.nativeDelete(BrowserSession, throughAccount);
  await deleteRevokedGrantDataAndRecordEvents(em, { grantId: { $in: grantIds } });
}

const auditEnd = (em: EntityManager, { slug }: IdentityProviderRow, userId: number, source: RequestSource, now: Date): Promise<void> =>
  recordAuditEvent(em, source, { action: 'sessions.ended', userId, details: { identity_provider: slug } }, now);
