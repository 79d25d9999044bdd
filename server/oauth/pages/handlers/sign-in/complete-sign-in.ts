import type { Request, Response } from 'express';
import { errors } from 'oidc-provider';
import { recordAuditEvent, getClientAddressAndUserAgent } from '../../../../audit/record-audit-event.ts';
import type { EntityManager } from '../../../../database/entity-manager/entity-manager-type.ts';
import { lockUserRow } from '../../../../users/lock-user-row.ts';
import { findActiveAccountAndPasswordHash, getPasswordSetTimeMs } from '../../../accounts/accounts-and-passwords.ts';
import { recordBrowserSessionUse } from '../../../sessions/record-list-and-revoke-browser-sessions.ts';
import type { LinkedAccountOfSignIn } from '../../../sessions/linked-account-of-sign-in.ts';
import { endBrowserSessionAndNotifyApplications, startBrowserSession } from '../../../sessions/load-start-and-end-browser-session.ts';
import type { AuthenticationContext } from '../../../protocol/acr-and-amr.ts';
import type { IdentityProviderRow } from '../../../../identity-providers/identity-provider.entity.ts';
import { User } from '../../../../users/user.entity.ts';
import { LinkedAccount } from '../../../linked-accounts/linked-account.entity.ts';
import { findRequiredStaffProviderIfNotUsed } from '../../../linked-accounts/linked-accounts-and-enabled-providers.ts';
import { messagePageWithSignInLink } from '../../views/message-pages.ts';
import { getInteractionClientId, requirePendingInteraction, sendPage, type PageContext } from '../../routing/page-context.ts';

export type AuthenticatedUser = {
  readonly accountId: string;
  readonly proof: AuthenticationContext;
  /** When the entered password was set, in milliseconds since 1970; undefined for a sign-in without a password. */
  readonly passwordSetAt?: number | undefined;
  /** The identity provider and the linked account that were used. */
  readonly provider?: { readonly issuer: string; readonly linkedAccountId: number } | undefined;
  /** Time of the authentication, in seconds since 1970 (default: now). */
  readonly loginTs?: number | undefined;
  /** Whether an application requested the sign-in. */
  readonly hasInteraction: boolean;
  /** Path to which the browser is redirected if no application requested the sign-in. */
  readonly next: string;
};

/**
 * Completes a sign-in and redirects to the application or to the page that required the sign-in.
 * @throws errors.SessionNotFound if the password has been changed since it was entered
 */
export async function completeSignIn(context: PageContext, req: Request, res: Response, authenticated: AuthenticatedUser): Promise<void> {
  const { em } = context;
  const { accountId, proof, hasInteraction, next, provider, loginTs } = authenticated;
  const userId = Number(accountId);
  const now = new Date();
  const requiredProvider = await findRequiredStaffProviderIfNotUsed(em, userId, provider?.issuer);
  if (requiredProvider) return refuseSignInWithoutProvider(context, req, res, userId, requiredProvider);
  const returnTo = await em.transactional(async () => {
    await requireUnchangedPassword(em, userId, authenticated.passwordSetAt);
    await requireExistingLink(em, userId, provider?.linkedAccountId);
    const signIn = { linkedAccountId: provider?.linkedAccountId ?? null };
    const request = hasInteraction ? await completeInteraction(context, req, res, { accountId, ...proof, loginTs, ...signIn }) : undefined;
    if (!hasInteraction) {
      const session = await startBrowserSession(context, req, res, accountId, { ...proof, loginTs });
      await recordBrowserSessionUse(em, session.uid, accountId, req, now, signIn);
    }
    const event = {
      action: 'session.started',
      actorId: userId,
      userId,
      clientId: request?.clientId,
      details: { amr: proof.amr, ...(provider && { issuer: provider.issuer }) },
    } as const;
    await recordAuditEvent(em, getClientAddressAndUserAgent(req), event, now);
    return request?.returnTo ?? next;
  });
  context.knownBrowsers.remember(req, res, userId, now);
  res.redirect(303, returnTo);
}

/**
 * Throws an error if the password has been changed. Locks the account first, as a password reset does, so that no sign-in with the old
 * password completes after the reset.
 */
async function requireUnchangedPassword(em: EntityManager, userId: number, setAt: number | undefined): Promise<void> {
  if (setAt === undefined) return;
  await lockUserRow(em, userId);
  const account = await findActiveAccountAndPasswordHash(em, userId);
  if (!account || getPasswordSetTimeMs(account) !== setAt) throw new errors.SessionNotFound('the password was changed during the sign-in');
}

/**
 * Throws an error if the linked account has been removed. Locks the account first, as a password reset does, because a reset removes linked
 * accounts.
 */
async function requireExistingLink(em: EntityManager, userId: number, linkedAccountId: number | undefined): Promise<void> {
  if (linkedAccountId === undefined) return;
  await lockUserRow(em, userId);
  const isActive = (await em.count(User, { id: userId, status: 'active' })) > 0;
  if (!isActive || (await em.count(LinkedAccount, { id: linkedAccountId, user: userId })) === 0)
    throw new errors.SessionNotFound('the linked account was removed during the sign-in');
}

/** Refuses to sign in a staff member who must use the company's provider. */
async function refuseSignInWithoutProvider(
  context: PageContext,
  req: Request,
  res: Response,
  userId: number,
  { name, slug }: IdentityProviderRow,
): Promise<void> {
  const event = {
    action: 'session.started',
    outcome: 'refused',
    userId,
    details: { what: 'identity provider required', provider: slug },
  } as const;
  await recordAuditEvent(context.em, getClientAddressAndUserAgent(req), event, new Date());
  const { signIn, providers } = context.settings.messages;
  const html = messagePageWithSignInLink(
    context.settings,
    signIn.title({ shop: context.settings.shop.name }),
    providers.required({ provider: name }),
  );
  sendPage(context, res, html, { status: 403 });
}

type CompletedSignIn = AuthenticationContext & LinkedAccountOfSignIn & { readonly accountId: string; readonly loginTs: number | undefined };

async function completeInteraction(
  context: PageContext,
  req: Request,
  res: Response,
  { accountId, amr, acr, loginTs, linkedAccountId }: CompletedSignIn,
) {
  const { provider } = context;
  const interaction = await requirePendingInteraction(context, req, res, 'login'); // also locks the interaction
  if (interaction.session && interaction.session.accountId !== accountId) {
    // A different user is signing in, so the previous user's session ends, and the interaction continues without a session.
    await endBrowserSessionAndNotifyApplications(context, req, res);
    delete interaction.session;
    await interaction.persist();
  }
  const returnTo = await provider.interactionResult(req, res, {
    login: { accountId, amr: [...amr], acr, linkedAccountId, ...(loginTs !== undefined && { ts: loginTs }) },
  });
  return { returnTo, clientId: getInteractionClientId(interaction) };
}
