import type { Provider } from 'oidc-provider';
import { z } from 'zod';
import { Application } from '../../applications/application.entity.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { LogoutNotification } from './logout-notification.entity.ts';

/** The session data that logout tokens require: the user, and the `sid` of each application that the user signed in to. */
const signedInSessionSchema = z.object({
  accountId: z.string(),
  authorizations: z.record(z.object({ sid: z.string().optional() })).default({}),
});
type SignedInSession = z.output<typeof signedInSessionSchema>;

type SessionTable = {
  readonly oauth_records: { readonly model: string; readonly account_id: string; readonly uid: string; readonly payload: string };
};

/**
 * Deletes browser sessions and queues a logout token for each application that the user signed in to during any of these sessions. Call
 * this in a transaction. Code that deletes a session in any other way must call `queueLogoutTokensOfSession`.
 * @param filter `accountId` identifies the user; `uid` limits the deletion to one session, and `exceptUid` excludes one session
 * @returns the number of deleted sessions
 */
export async function deleteSessionsAndQueueLogoutTokens(
  em: EntityManager,
  { accountId, uid, exceptUid }: { readonly accountId: string; readonly uid?: string; readonly exceptUid?: string },
): Promise<number> {
  // This deletion uses Kysely, because MikroORM's query builder omits `returning` from `delete` statements.
  const deletion = em
    .getKysely<SessionTable>()
    .deleteFrom('oauth_records')
    .where('model', '=', 'Session')
    .where('account_id', '=', accountId)
    .$if(uid !== undefined, (query) => query.where('uid', '=', uid ?? ''))
    .$if(exceptUid !== undefined, (query) => query.where('uid', '!=', exceptUid ?? ''))
    .returning('payload');
  const deleted = await deletion.execute();
  for (const { payload } of deleted) await queueLogoutTokensOfSession(em, JSON.parse(payload));
  return deleted.length;
}

/** Queues a logout token for each application that the user signed in to during the browser session that has ended. */
export async function queueLogoutTokensOfSession(em: EntityManager, session: unknown): Promise<void> {
  const parsed = signedInSessionSchema.safeParse(session);
  if (parsed.success) await queueLogoutTokens(em, parsed.data);
}

async function queueLogoutTokens(em: EntityManager, { accountId, authorizations }: SignedInSession): Promise<void> {
  const sids = new Map(
    Object.entries(authorizations).flatMap(([clientId, { sid }]) => (sid === undefined ? [] : [[clientId, sid] as const])),
  );
  if (sids.size === 0) return;
  const receivers = await em
    .fork({ keepTransactionContext: true })
    .find(
      Application,
      { clientId: { $in: [...sids.keys()] }, backchannelLogoutUri: { $ne: null }, status: 'active' },
      { fields: ['clientId'] },
    );
  const now = new Date();
  const notifications = receivers.map(({ id, clientId }) => ({
    application: id,
    accountId,
    sid: sids.get(clientId) ?? '',
    dueAt: now,
    createdAt: now,
  }));
  if (notifications.length > 0) await em.insertMany(LogoutNotification, notifications);
}

/**
 * Replaces oidc-provider's method that sends logout tokens during RP-initiated logout. The token is queued in the transaction that ends the
 * session, so that a slow application cannot delay the sign-out and no token is lost.
 */
export function patchProviderToQueueLogoutTokens(provider: Provider, em: EntityManager): void {
  Object.assign(provider.Client.prototype, {
    backchannelLogout(this: { readonly clientId: string }, accountId: string, sid: string | undefined): Promise<void> {
      return queueLogoutTokensOfSession(em, { accountId, authorizations: { [this.clientId]: { sid } } });
    },
  });
}
