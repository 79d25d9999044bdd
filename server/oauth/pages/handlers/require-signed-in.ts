import type { Request, RequestHandler, Response } from 'express';
import type { Em } from '../../../database/entity-manager/entity-manager.ts';
import { lockUser } from '../../../users/lock-user.ts';
import { readAccount } from '../../accounts/account-store.ts';
import type { AccountRow } from '../../storage/prefetched-records.ts';
import { appSince } from '../../second-factors/totp.ts';
import { sessionOf } from '../../sessions/current-session.ts';
import { OauthRecord } from '../../storage/oauth-record.entity.ts';
import { twoFactors } from '../../protocol/acr-and-amr.ts';
import { sendPage, type PageContext } from '../routing/page-context.ts';
import { accountPage } from '../views/account-pages.ts';

/** A request of somebody who is signed in. */
export type AccountRequest = {
  readonly context: PageContext;
  readonly req: Request;
  readonly res: Response;
  readonly account: AccountRow;
  /** The session of this browser; no secret. */
  readonly sessionUid: string;
  readonly now: Date;
};

type AccountHandler = (request: AccountRequest) => Promise<void> | void;

/** What can lock somebody out of their account wants a proof that is not older: of a browser that was left open, too. */
const latelySeconds = 10 * 60;

export const withAccount = (context: PageContext) => {
  const when =
    (wanted: 'signed in' | 'lately', handle: AccountHandler): RequestHandler =>
    async (req, res) => {
      const now = new Date();
      const session = sessionOf(req);
      const account = await readAccount(context.em, session.accountId ?? '');
      if (!account) return res.redirect(303, signInFor(req));
      if (wanted === 'lately' && !(await isRecent(context, session, account.id, now))) return res.redirect(303, signInFor(req));
      try {
        return await handle({ context, req, res, account, sessionUid: session.uid, now });
      } catch (error) {
        if (error instanceof SessionEndedError) return res.redirect(303, signInFor(req));
        throw error;
      }
    };
  return {
    signedIn: (handle: AccountHandler) => when('signed in', handle),
    /** Who signed in a while ago, or without the second step that they have set up since, signs in again first. */
    lately: (handle: AccountHandler) => when('lately', handle),
  };
};

type Session = ReturnType<typeof sessionOf>;

async function isRecent({ em }: PageContext, session: Session, userId: number, now: Date): Promise<boolean> {
  if (now.getTime() / 1000 - (session.loginTs ?? 0) > latelySeconds) return false;
  return session.acr === twoFactors || (await appSince(em, userId)) === undefined;
}

/** Back to the page afterwards; a form has to be sent anew. */
const signInFor = ({ path }: Request): string => {
  const [, , page = ''] = path.split('/');
  const next = page === 'passkeys' || page === 'recovery-codes' ? 'security' : page;
  return next === '' ? '/sign-in' : `/sign-in?next=/account/${next}`;
};

class SessionEndedError extends Error {
  override readonly name = 'SessionEndedError';
}

/**
 * Begins a transaction that adds a way into the account: locks the user, and then checks that the session still exists. A request
 * that was sent before a password reset would otherwise add a credential, or start a session, after it.
 * @throws SessionEndedError, for which the user is sent to the sign-in page
 */
export async function lockAccountOfSession(em: Em, { account, sessionUid }: AccountRequest): Promise<void> {
  await lockUser(em, account.id);
  const session = { model: 'Session', uid: sessionUid, accountId: String(account.id) };
  if ((await em.count(OauthRecord, session)) === 0) throw new SessionEndedError('the session has ended');
}

export const showAccount: AccountHandler = ({ context, req, res, account }) =>
  sendPage(context, res, accountPage(context.setting, account, context.forms.token(req, res)));
