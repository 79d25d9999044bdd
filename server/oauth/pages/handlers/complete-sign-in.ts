import type { Request, Response } from 'express';
import { errors } from 'oidc-provider';
import { recordAuditEvent, sourceOf } from '../../../audit/record-audit-event.ts';
import type { Em } from '../../../database/entity-manager/entity-manager.ts';
import { lockUser } from '../../../users/lock-user.ts';
import { findSignInCandidate, passwordSetAt } from '../../accounts/account-store.ts';
import { noteBrowser } from '../../sessions/session-list.ts';
import { endSession, startSession } from '../../sessions/current-session.ts';
import type { Proof } from '../../protocol/acr-and-amr.ts';
import { clientIdOf, pendingInteraction, type PageContext } from '../routing/page-context.ts';

export type Arrival = {
  readonly accountId: string;
  readonly proof: Proof;
  /** When the password that was given had been set, in milliseconds since 1970; absent for a sign-in without one. */
  readonly passwordSetAt?: number | undefined;
  /** Whether an application asked for the sign-in. */
  readonly hasInteraction: boolean;
  /** Where to go on when none did. */
  readonly next: string;
};

/**
 * Completes a sign-in and redirects to what it was for.
 * @throws errors.SessionNotFound if the password has been changed since it was given
 */
export async function letIn(context: PageContext, req: Request, res: Response, arrival: Arrival): Promise<void> {
  const { em } = context;
  const { accountId, proof, hasInteraction, next } = arrival;
  const userId = Number(accountId);
  const now = new Date();
  const returnTo = await em.transactional(async () => {
    await requireUnchangedPassword(em, userId, arrival.passwordSetAt);
    const clientId = hasInteraction ? await answerInteraction(context, req, res, accountId, proof) : undefined;
    if (!hasInteraction) {
      const session = await startSession(context.provider, req, res, accountId, proof);
      await noteBrowser(em, session.uid, accountId, req, now);
    }
    const event = {
      action: 'session.started',
      actorId: userId,
      userId,
      clientId: clientId?.clientId,
      details: { amr: proof.amr },
    } as const;
    await recordAuditEvent(em, sourceOf(req), event, now);
    return clientId?.returnTo ?? next;
  });
  context.knownBrowsers.remember(req, res, userId, now);
  res.redirect(303, returnTo);
}

/** Locks the account first, as a password reset does, so that a sign-in with the old password cannot complete after it. */
async function requireUnchangedPassword(em: Em, userId: number, setAt: number | undefined): Promise<void> {
  if (setAt === undefined) return;
  await lockUser(em, userId);
  const account = await findSignInCandidate(em, userId);
  if (!account || passwordSetAt(account) !== setAt) throw new errors.SessionNotFound('the password was changed during the sign-in');
}

async function answerInteraction(context: PageContext, req: Request, res: Response, accountId: string, { amr, acr }: Proof) {
  const { provider } = context;
  const interaction = await pendingInteraction(context, req, res, 'login'); // locked from here on
  if (interaction.session && interaction.session.accountId !== accountId) {
    // somebody else signs in: the session of the one before ends, and the request goes on without it
    await endSession(provider, req, res);
    delete interaction.session;
    await interaction.persist();
  }
  const returnTo = await provider.interactionResult(req, res, { login: { accountId, amr: [...amr], acr } });
  return { returnTo, clientId: clientIdOf(interaction) };
}
