import type { Request, Response } from 'express';
import type { EntityManager } from '../../../../database/entity-manager/entity-manager-type.ts';
import { lockUserRow } from '../../../../users/lock-user-row.ts';
import type { AccountRow } from '../../../storage/prefetched-record-and-client-types.ts';
import { findWhenAuthenticatorAppWasAdded } from '../../../second-factors/authenticator-app-and-recovery-codes.ts';
import { getBrowserSessionOfRequest } from '../../../sessions/load-start-and-end-browser-session.ts';
import { recordAccountPageVisit } from '../../../sessions/record-list-and-revoke-browser-sessions.ts';
import { getOauthRequestContext } from '../../../protocol/oauth-request-context.ts';
import { User } from '../../../../users/user.entity.ts';
import { OauthRecord } from '../../../storage/oauth-record.entity.ts';
import { twoFactorAcrValue } from '../../../protocol/acr-and-amr.ts';
import type { PageContext } from '../../routing/page-context.ts';
import type { PageHandler } from '../../routing/page-router.ts';

/** A request from a signed-in user. */
export type AccountRequest = {
  readonly context: PageContext;
  readonly req: Request;
  readonly res: Response;
  readonly account: AccountRow;
  /** Identifier of this browser's session; not a secret. */
  readonly sessionUid: string;
  readonly now: Date;
};

type AccountHandler = (request: AccountRequest) => Promise<void> | void;

/**
 * Changes that could lock the account owner out require a sign-in that is at most this old. The limit protects users who leave a signed-in
 * browser unattended.
 */
const recentSignInSeconds = 10 * 60;

const requireSignIn =
  (required: 'any sign-in' | 'recent sign-in', handle: AccountHandler): PageHandler =>
  (context) =>
  async (req, res) => {
    const now = new Date();
    const session = getBrowserSessionOfRequest(req);
    const account = getOauthRequestContext(req).signedInAccount;
    if (!account) return res.redirect(303, signInUrl(req));
    await recordAccountPageVisit(context.em, session.uid, req, now);
    if (required === 'recent sign-in' && !(await isSignInRecentAndSufficient(context, session, account.id, now)))
      return res.redirect(303, signInUrl(req));
    try {
      return await handle({ context, req, res, account, sessionUid: session.uid, now });
    } catch (error) {
      if (error instanceof SessionEndedError) return res.redirect(303, signInUrl(req));
      throw error;
    }
  };

export const requireSignInBefore = (handle: AccountHandler): PageHandler => requireSignIn('any sign-in', handle);

/** Requires a new sign-in if the most recent sign-in is too old or did not include the account's second factor. */
export const requireRecentSignInBefore = (handle: AccountHandler): PageHandler => requireSignIn('recent sign-in', handle);

type Session = ReturnType<typeof getBrowserSessionOfRequest>;

/** Returns whether the latest sign-in was recent enough, and included the account's authenticator app if there is one. */
export async function isSignInRecentAndSufficient({ em }: PageContext, session: Session, userId: number, now: Date): Promise<boolean> {
  if (now.getTime() / 1000 - (session.loginTs ?? 0) > recentSignInSeconds) return false;
  return session.acr === twoFactorAcrValue || (await findWhenAuthenticatorAppWasAdded(em, userId)) === undefined;
}

/**
 * Returns the URL of the sign-in page, which redirects back to the current page after the sign-in. The user must then submit the form
 * again.
 */
const signInUrl = ({ path }: Request): string => {
  const [, , page = ''] = path.split('/');
  if (page === 'approvals') return `/sign-in?next=${path}`;
  const next = page === 'passkeys' || page === 'recovery-codes' || page === 'linked-accounts' ? 'security' : page;
  return next === '' ? '/sign-in' : `/sign-in?next=/account/${next}`;
};

class SessionEndedError extends Error {
  override readonly name = 'SessionEndedError';
}

/**
 * Locks the user and verifies that the session still exists. Call this first in every transaction that adds a credential or starts a
 * session; otherwise, a request sent before a password reset could still take effect after the reset.
 * @throws SessionEndedError, which redirects the user to the sign-in page
 */
export async function lockAccountAndRequireActiveSession(em: EntityManager, { account, sessionUid }: AccountRequest): Promise<void> {
  await lockUserRow(em, account.id);
  const session = { model: 'Session', uid: sessionUid, accountId: String(account.id) };
  if ((await em.count(OauthRecord, session)) === 0) throw new SessionEndedError('the session has ended');
}

/** Returns whether the user is an active administrator. */
export const isActiveAdministrator = async (em: EntityManager, id: number): Promise<boolean> =>
  (await em.count(User, { id, role: 'admin', status: 'active' })) > 0;
