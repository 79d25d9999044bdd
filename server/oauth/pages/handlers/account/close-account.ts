import { LockMode } from '@mikro-orm/core';
import type { ProblemCode } from '@mandate/contract';
import { recordAuditEvent, getClientAddressAndUserAgent } from '../../../../audit/record-audit-event.ts';
import { Problem } from '../../../../http/problem-details/problem.ts';
import { closeUserAndRevokeAccess } from '../../../../users/close-user-and-revoke-access.ts';
import { lockActiveAdministratorRows } from '../../../../users/assert-other-administrator-remains.ts';
import { User } from '../../../../users/user.entity.ts';
import type { AccountRequest } from './signed-in-page-guards.ts';
import { endBrowserSessionAndNotifyApplications } from '../../../sessions/load-start-and-end-browser-session.ts';
import { revokeAccessOfSuspendedOrClosedUser } from '../../../grants/revoke-access-of-suspended-or-closed-user.ts';
import { sendPage } from '../../routing/page-context.ts';
import { closeAccountPage } from '../../views/account/account-subpage-layout-and-basic-forms.ts';
import { noticePage } from '../../views/message-pages.ts';

/** Handles `GET /account/close`. */
export function showCloseAccount({ context, req, res }: AccountRequest): void {
  sendPage(context, res, closeAccountPage(context.settings, context.forms.issue(req, res)));
}

/** Handles `POST /account/close`: closes the account, unless it belongs to the last administrator or has open orders. */
export async function submitCloseAccount(request: AccountRequest): Promise<void> {
  const { context, req, res, account, now } = request;
  const { closeAccount: messages, notFound, signIn } = context.settings.messages;
  const toAccount = { path: '/account', text: signIn.toAccount };
  const toStart = { path: '/', text: notFound.toStart };
  const closed = await context.em
    .transactional(async (em) => {
      await lockActiveAdministratorRows(em);
      const user = await em.findOneOrFail(User, { id: account.id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
      await closeUserAndRevokeAccess(em, revokeAccessOfSuspendedOrClosedUser, user);
      await endBrowserSessionAndNotifyApplications(context, req, res);
      await recordAuditEvent(em, getClientAddressAndUserAgent(req), { action: 'account.closed', actorId: user.id, userId: user.id }, now);
      return true;
    })
    .catch((error: unknown) => {
      if (error instanceof Problem && obstacles.includes(error.code)) return false;
      throw error;
    });
  if (!closed) return sendPage(context, res, noticePage(context.settings, messages.title, messages.openOrders, toAccount), { status: 409 });
  return sendPage(context, res, noticePage(context.settings, messages.doneTitle, messages.done, toStart));
}

// An account cannot be closed if no other administrator would remain, or if the user has open orders.
const obstacles: ProblemCode[] = ['last_administrator', 'open_orders'];
