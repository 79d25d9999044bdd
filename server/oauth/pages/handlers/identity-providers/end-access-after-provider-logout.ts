import { recordAuditEvent, type RequestSource } from '../../../../audit/record-audit-event.ts';
import type { EntityManager } from '../../../../database/entity-manager/entity-manager-type.ts';
import type { IdentityProviderRow } from '../../../../identity-providers/identity-provider.entity.ts';
import { lockUserRow } from '../../../../users/lock-user-row.ts';
import { User } from '../../../../users/user.entity.ts';
import { endSessions } from '../../../back-channel-logout/end-sessions.ts';
import { revokeGrantsAndSessionsOfUser } from '../../../grants/revoke-grants-and-sessions-of-user.ts';
import { BrowserSession } from '../../../sessions/browser-session.entity.ts';
import { findLinkedAccount } from '../../../linked-accounts/linked-accounts.ts';

/**
 * Ends the sessions of a user whose session or account at a provider has ended. If staff must sign in through this provider, the grants of
 * staff are also revoked, because the provider decides whether they still belong to the company. An unknown account is ignored.
 */
export async function endAccessAfterProviderLogout(
  em: EntityManager,
  { slug, requiredForStaff }: IdentityProviderRow,
  account: { readonly issuer: string; readonly subject: string },
  source: RequestSource,
  now: Date,
): Promise<void> {
  await em.transactional(async (inner) => {
    const linked = await findLinkedAccount(inner, account);
    if (!linked) return;
    const userId = linked.user;
    await lockUserRow(inner, userId);
    const isStaff = (await inner.count(User, { id: userId, role: { $in: ['staff', 'admin'] } })) > 0;
    if (requiredForStaff && isStaff) await revokeGrantsAndSessionsOfUser(inner, userId);
    else {
      await endSessions(inner, { accountId: String(userId) });
      await inner.nativeDelete(BrowserSession, { user: userId });
    }
    await recordAuditEvent(inner, source, { action: 'sessions.ended', userId, details: { identity_provider: slug } }, now);
  });
}
