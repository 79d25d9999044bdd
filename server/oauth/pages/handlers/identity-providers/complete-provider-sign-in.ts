import type { Request, Response } from 'express';
import { getClientAddressAndUserAgent, recordAuditEvent } from '../../../../audit/record-audit-event.ts';
import { releaseLoadShedderSlotWhile } from '../../../../http/server/load-shedder.ts';
import type { IdentityProviderRow } from '../../../../identity-providers/identity-provider.entity.ts';
import { buildEmailEqualsFilter } from '../../../../users/build-email-equals-filter.ts';
import { User } from '../../../../users/user.entity.ts';
import { createAccountWithVerifiedEmail, EmailTakenError } from '../../../accounts/accounts-and-passwords.ts';
import { decryptPendingSignIn, type PendingProviderSignIn } from '../../../identity-providers/pending-provider-sign-in.ts';
import {
  isEmailDomainAllowed,
  canRoleUseProvider,
  type ProviderIdentity,
} from '../../../identity-providers/provider-identity-and-access-rules.ts';
import {
  addLinkedAccount,
  findEnabledProviderBySlug,
  findLinkedAccountByIdentity,
  updateLinkedAccountLabelAndLastUse,
} from '../../../linked-accounts/linked-accounts-and-enabled-providers.ts';
import { storeProviderRefreshToken } from '../../../linked-accounts/linked-account-refresh-token.ts';
import { twoFactorAcrValue } from '../../../protocol/acr-and-amr.ts';
import { findWhenAuthenticatorAppWasAdded } from '../../../second-factors/authenticator-app-and-recovery-codes.ts';
import { consumeSingleUseIdentifier } from '../../../second-factors/passkeys.ts';
import { issueFirstFactorTicket } from '../../../second-factors/first-factor-ticket.ts';
import type { PageContext } from '../../routing/page-context.ts';
import { findPreferredLanguage } from '../../views/select-and-store-page-language.ts';
import { completeSignIn } from '../sign-in/complete-sign-in.ts';
import { renderAndSendSecondFactorPage } from '../sign-in/render-and-send-sign-in-pages.ts';
import { findPendingSignInInteraction } from '../sign-in/show-and-submit-sign-in-steps.ts';
import { linkProviderAccountAndRedirect } from './link-and-remove-provider-account.ts';
import { sendExistingAccountPage } from './link-account-by-email.ts';
import { respondToProviderError, sendProviderMessagePage } from './provider-error-pages.ts';
import type { VerifiedProviderResponse } from './verified-provider-response-type.ts';

const readParameters = (req: Request): URLSearchParams => new URLSearchParams(req.originalUrl.split('?', 2)[1] ?? '');

/**
 * Returns the sign-in that a response belongs to. Returns undefined if the sign-in has expired, or if this server did not start a sign-in
 * at this provider.
 */
function findPendingSignIn(context: PageContext, req: Request): PendingProviderSignIn | undefined {
  const pending = decryptPendingSignIn(readParameters(req).get('state') ?? '', context.keys.identityProviders, new Date());
  return pending?.slug === req.params['slug'] ? pending : undefined;
}

/**
 * Handles `GET /sign-in/providers/:slug/callback`, the redirect URI. Redirects to a path that contains the interaction ID, because
 * oidc-provider receives the interaction cookie only for such paths.
 */
export const redirectProviderResponseToInteraction = (context: PageContext) => async (req: Request, res: Response) => {
  const pending = findPendingSignIn(context, req);
  if (!pending) return sendExpired(context, req, res, null);
  const base = pending.interactionUid === null ? '/sign-in' : `/sign-in/${pending.interactionUid}`;
  return res.set('Cache-Control', 'no-store').redirect(303, `${base}/providers/${pending.slug}/complete?${readParameters(req).toString()}`);
};

/** Handles the redirect from `redirectProviderResponseToInteraction`: verifies the response and signs the user in, or links the account. */
export const verifyProviderResponseAndSignInOrLink = (context: PageContext) => async (req: Request, res: Response) => {
  const { em } = context;
  const uid = req.params['uid'] === undefined ? null : String(req.params['uid']);
  const pending = findPendingSignIn(context, req);
  // The CSRF token belongs to the browser that started the sign-in, and changes when another user signs in.
  if (pending?.interactionUid !== uid || !context.forms.verify(req, pending.csrf)) return sendExpired(context, req, res, uid);
  const interaction = await findPendingSignInInteraction(context, req, res);
  const provider = await findEnabledProviderBySlug(em, pending.slug);
  if (!provider || !(await consumeSingleUseIdentifier(em, pending.id, new Date()))) return sendExpired(context, req, res, uid);
  let identity: ProviderIdentity;
  try {
    identity = await releaseLoadShedderSlotWhile(res, context.relyingParty.redeemResponse(provider, pending, readParameters(req)));
  } catch (error) {
    await auditRefusal(context, req, provider, undefined);
    return respondToProviderError(context, res, provider, pending, error);
  }
  const response = { provider, pending, identity, interaction };
  if (!isEmailDomainAllowed(provider, identity)) return refuse(context, req, res, response, undefined);
  if (pending.linkForUserId !== null) return linkProviderAccountAndRedirect(context, req, res, response);
  return signInOrCreateAccount(context, req, res, response);
};

async function signInOrCreateAccount(context: PageContext, req: Request, res: Response, response: VerifiedProviderResponse): Promise<void> {
  const { em } = context;
  const { provider, identity } = response;
  const linked = await findLinkedAccountByIdentity(em, identity);
  if (linked) {
    const user = await em.findOne(User, { id: linked.user, status: 'active' }, { disableIdentityMap: true });
    if (!user || !canRoleUseProvider(provider, user.role)) return refuse(context, req, res, response, linked.user);
    const now = new Date();
    await updateLinkedAccountLabelAndLastUse(em, linked.id, identity.label, now);
    const issued = { linkedAccountId: linked.id, refreshToken: identity.refreshToken };
    await storeProviderRefreshToken(em, context.keys.identityProviders, provider, issued, now);
    return continueWithLinkedAccount(context, req, res, response, { userId: linked.user, linkedAccountId: linked.id });
  }
  const { verifiedEmail: email } = identity;
  const { noAccountTitle: title, ...messages } = context.settings.messages.providers;
  const names = { provider: provider.name, page: context.settings.messages.accountMenu.security };
  const uid = response.pending.interactionUid;
  const sendNotice = (text: string) =>
    sendProviderMessagePage(context, res, { name: provider.name, title, text, interactionUid: uid, status: 403 });
  if (email === undefined) return sendNotice(messages.unverified(names));
  const owner = await em.findOne(User, { ...buildEmailEqualsFilter(email), status: { $ne: 'closed' } }, { disableIdentityMap: true });
  if (owner && (owner.status !== 'active' || !canRoleUseProvider(provider, owner.role)))
    return refuse(context, req, res, response, owner.id);
  if (owner) return sendExistingAccountPage(context, req, res, response, owner);
  if (!provider.createsAccounts || !canRoleUseProvider(provider, 'customer')) return sendNotice(messages.noAccount(names));
  const created = await createLinkedAccount(context, req, response, email);
  if (!created) return sendExpired(context, req, res, uid); // a concurrent request has created an account with this address
  return continueWithLinkedAccount(context, req, res, response, created);
}

type LinkedUser = { readonly userId: number; readonly linkedAccountId: number };

/**
 * Creates an account without a password. Returns undefined if the address has been taken or the account at the provider has been linked in
 * the meantime.
 */
async function createLinkedAccount(
  { em, settings, keys }: PageContext,
  req: Request,
  { provider, identity }: VerifiedProviderResponse,
  email: string,
): Promise<LinkedUser | undefined> {
  const now = new Date();
  const name = identity.name ?? email.split('@', 1)[0] ?? email;
  try {
    return await em.fork().transactional(async (inner) => {
      const { id } = await createAccountWithVerifiedEmail(inner, { name, email, locale: findPreferredLanguage(settings, req)?.tag }, now);
      const linkedAccountId = await addLinkedAccount(inner, id, identity, now);
      if (linkedAccountId === undefined) throw new EmailTakenError('the account at the provider is already linked');
      const issued = { linkedAccountId, refreshToken: identity.refreshToken };
      await storeProviderRefreshToken(inner, keys.identityProviders, provider, issued, now);
      const source = getClientAddressAndUserAgent(req);
      await recordAuditEvent(
        inner,
        source,
        { action: 'account.created', actorId: id, userId: id, details: { issuer: identity.issuer } },
        now,
      );
      return { userId: id, linkedAccountId };
    });
  } catch (error) {
    if (error instanceof EmailTakenError) return undefined;
    throw error;
  }
}

/** Completes the sign-in, or requests a code if the user has an authenticator app and the provider has not verified two factors. */
async function continueWithLinkedAccount(
  context: PageContext,
  req: Request,
  res: Response,
  { pending, identity, interaction }: VerifiedProviderResponse,
  { userId, linkedAccountId }: LinkedUser,
): Promise<void> {
  const { authentication, issuer, authenticatedAt } = identity;
  const { next } = pending;
  const now = new Date();
  const loginTs = authenticatedAt === undefined ? undefined : Math.min(authenticatedAt, Math.floor(now.getTime() / 1000));
  if (authentication.acr !== twoFactorAcrValue && (await findWhenAuthenticatorAppWasAdded(context.em, userId)) !== undefined) {
    const csrf = context.forms.issue(req, res);
    const provider = { linkedAccountId, issuer, amr: [...authentication.amr], ...(loginTs !== undefined && { loginTs }) };
    const proof = issueFirstFactorTicket(context.keys.secondFactor, csrf, { accountId: userId, provider, next }, now);
    return renderAndSendSecondFactorPage(context, res, { csrf, proof, next, interaction, faults: [] });
  }
  return completeSignIn(context, req, res, {
    accountId: String(userId),
    proof: authentication,
    provider: { issuer, linkedAccountId },
    loginTs,
    hasInteraction: interaction !== undefined,
    next,
  });
}

/** Rejects a sign-in to an account for which this provider must not be used. The page does not state the reason. */
async function refuse(
  context: PageContext,
  req: Request,
  res: Response,
  { provider, pending }: VerifiedProviderResponse,
  userId: number | undefined,
): Promise<void> {
  await auditRefusal(context, req, provider, userId);
  const { name } = provider;
  const text = context.settings.messages.providers.notAllowed({ provider: name });
  return sendProviderMessagePage(context, res, { name, text, interactionUid: pending.interactionUid, status: 403 });
}

const auditRefusal = ({ em }: PageContext, req: Request, { slug }: IdentityProviderRow, userId: number | undefined): Promise<void> =>
  recordAuditEvent(
    em,
    getClientAddressAndUserAgent(req),
    { action: 'session.started', outcome: 'refused', userId, details: { what: 'identity provider', provider: slug } },
    new Date(),
  );

async function sendExpired(context: PageContext, req: Request, res: Response, interactionUid: string | null): Promise<void> {
  const slug = String(req.params['slug']);
  const name = (await findEnabledProviderBySlug(context.em, slug))?.name ?? slug;
  const text = context.settings.messages.providers.expired;
  return sendProviderMessagePage(context, res, { name, text, interactionUid, status: 400 });
}
