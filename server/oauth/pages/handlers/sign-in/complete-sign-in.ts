import type { Request, Response } from 'express';
import { errors } from 'oidc-provider';
import { recordAuditEvent, getClientAddressAndUserAgent } from '../../../../audit/record-audit-event.ts';
import type { EntityManager } from '../../../../database/entity-manager/entity-manager-type.ts';
import { lockUserRow } from '../../../../users/lock-user-row.ts';
import { findActiveAccountWithPasswordHash, getPasswordSetTimeMs } from '../../../accounts/accounts-and-passwords.ts';
import { recordBrowserSessionUse } from '../../../sessions/record-list-and-revoke-browser-sessions.ts';
import { endBrowserSession, startBrowserSession } from '../../../sessions/load-start-and-end-browser-session.ts';
import type { AuthenticationContext } from '../../../protocol/acr-and-amr.ts';
import { getInteractionClientId, requirePendingInteraction, type PageContext } from '../../routing/page-context.ts';

export type AuthenticatedUser = {
  readonly accountId: string;
  readonly proof: AuthenticationContext;
  /** Time at which the entered password was set, in milliseconds since 1970; undefined for a sign-in without a password. */
  readonly passwordSetAt?: number | undefined;
  /** Whether an application requested the sign-in. */
  readonly hasInteraction: boolean;
  /** Path that the browser is redirected to if no application requested the sign-in. */
  readonly next: string;
};

/**
 * Completes a sign-in and redirects to the application or to the page that required the sign-in.
 * @throws errors.SessionNotFound if the password has been changed since it was entered
 */
export async function completeSignIn(context: PageContext, req: Request, res: Response, authenticated: AuthenticatedUser): Promise<void> {
  const { em } = context;
  const { accountId, proof, hasInteraction, next } = authenticated;
  const userId = Number(accountId);
  const now = new Date();
  const returnTo = await em.transactional(async () => {
    await requireUnchangedPassword(em, userId, authenticated.passwordSetAt);
    const request = hasInteraction ? await completeInteraction(context, req, res, accountId, proof) : undefined;
    if (!hasInteraction) {
      const session = await startBrowserSession(context, req, res, accountId, proof);
      await recordBrowserSessionUse(em, session.uid, accountId, req, now);
    }
    const event = {
      action: 'session.started',
      actorId: userId,
      userId,
      clientId: request?.clientId,
      details: { amr: proof.amr },
    } as const;
    await recordAuditEvent(em, getClientAddressAndUserAgent(req), event, now);
    return request?.returnTo ?? next;
  });
  context.knownBrowsers.remember(req, res, userId, now);
  res.redirect(303, returnTo);
}

/**
 * Throws if the password has been changed. Locks the account first, as a password reset does, so that no sign-in with the old password
 * completes after the reset.
 */
async function requireUnchangedPassword(em: EntityManager, userId: number, setAt: number | undefined): Promise<void> {
  if (setAt === undefined) return;
  await lockUserRow(em, userId);
  const account = await findActiveAccountWithPasswordHash(em, userId);
  if (!account || getPasswordSetTimeMs(account) !== setAt) throw new errors.SessionNotFound('the password was changed during the sign-in');
}

async function completeInteraction(
  context: PageContext,
  req: Request,
  res: Response,
  accountId: string,
  { amr, acr }: AuthenticationContext,
) {
  const { provider } = context;
  const interaction = await requirePendingInteraction(context, req, res, 'login'); // also locks the interaction
  if (interaction.session && interaction.session.accountId !== accountId) {
    // a different user is signing in: end the previous user's session and continue without a session
    await endBrowserSession(context, req, res);
    delete interaction.session;
    await interaction.persist();
  }
  const returnTo = await provider.interactionResult(req, res, { login: { accountId, amr: [...amr], acr } });
  return { returnTo, clientId: getInteractionClientId(interaction) };
}
