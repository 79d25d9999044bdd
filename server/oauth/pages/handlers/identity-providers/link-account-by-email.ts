import { LockMode } from '@mikro-orm/core';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { getClientAddressAndUserAgent, recordAuditEvent, type RequestSource } from '../../../../audit/record-audit-event.ts';
import { decryptText, encryptText } from '../../../../crypto/authenticated-encryption.ts';
import type { EntityManager } from '../../../../database/entity-manager/entity-manager-type.ts';
import { getIdentityProviderEndpointsBasePath } from '../../../../identity-providers/save-identity-provider.ts';
import { queueMail } from '../../../../mail/queue-mail.ts';
import { markEmailVerifiedAndAudit } from '../../../../users/change-email-address-or-mark-verified.ts';
import { User } from '../../../../users/user.entity.ts';
import {
  storeEmailedLinkAndReturnToken,
  lockUserAndConsumeEmailedLink,
  readEmailedLinkWithoutConsuming,
} from '../../../accounts/emailed-one-time-links.ts';
import {
  listNonPasswordCredentials,
  removeNonPasswordCredentialsNotKept,
} from '../../../accounts/list-and-remove-non-password-credentials.ts';
import { revokeGrantsAndSessionsOfUser } from '../../../grants/revoke-grants-and-sessions-of-user.ts';
import { canRoleUseProvider } from '../../../identity-providers/provider-identity-and-access-rules.ts';
import {
  decryptPendingRefreshToken,
  encryptPendingRefreshToken,
  storeProviderRefreshToken,
} from '../../../linked-accounts/linked-account-refresh-token.ts';
import { addLinkedAccount, findEnabledProviderBySlug } from '../../../linked-accounts/linked-accounts-and-enabled-providers.ts';
import { StoredPasswordHash } from '../../../passwords/stored-password-hash.entity.ts';
import { findWhenAuthenticatorAppWasAdded } from '../../../second-factors/authenticator-app-and-recovery-codes.ts';
import { renderEmail } from '../../emails/render-email.ts';
import { renderSecurityChangeEmail } from '../../emails/render-security-change-email.ts';
import { sendPage, type PageContext } from '../../routing/page-context.ts';
import { confirmAccountLinkPage, existingAccountPage } from '../../views/identity-providers/identity-provider-pages.ts';
import { localizePageSettingsForEmailToUser } from '../../views/select-and-store-page-language.ts';
import { emailSentPage } from '../../views/sign-in/email-link-pages.ts';
import type { VerifiedProviderResponse } from './verified-provider-response-type.ts';
import { sendProviderMessagePage, signInPathFromInteractionUid } from './provider-error-pages.ts';

const lifetimeMs = 60 * 60 * 1000;
const encryptionContext = 'account to be linked by e-mail';
/** Maximum length of a refresh token, so that the form does not become too large. No known provider issues longer tokens. */
const refreshTokenLengthMax = 8_000;

/** A provider account that its user wants to link. Only the browser in which the user signed in to the provider can link the account. */
const linkSchema = z.object({
  slug: z.string(),
  issuer: z.string(),
  subject: z.string(),
  label: z.string(),
  userId: z.number(),
  csrf: z.string(),
  interactionUid: z.string().nullable(),
  until: z.number(),
  /** Refresh token of the account. Only the form contains the token, because it would make the e-mailed link too long. */
  refreshToken: z.string().optional(),
});
type PendingLink = z.output<typeof linkSchema>;

/** Encrypts the details of the account to link, for the form and for the e-mailed link. */
export const encryptPendingAccountLink = (link: PendingLink, key: Buffer): string =>
  encryptText(JSON.stringify(link), key, encryptionContext);

function readPendingLink(context: PageContext, req: Request, text: unknown): PendingLink | undefined {
  const decrypted = typeof text === 'string' ? decryptText(text, context.keys.identityProviders, encryptionContext) : undefined;
  if (decrypted === undefined) return undefined;
  const link = linkSchema.parse(JSON.parse(decrypted));
  const isOfThisBrowser = link.slug === req.params['slug'] && context.forms.verify(req, link.csrf);
  return isOfThisBrowser && link.until > Date.now() ? link : undefined;
}

/**
 * Returns whether the owner of an account can link the provider with an e-mailed link. If the account has a second factor, access to the
 * mailbox alone is not enough.
 */
const canLinkByEmail = async ({ canMail }: PageContext, em: EntityManager, { id, emailVerification }: User): Promise<boolean> =>
  canMail && emailVerification !== 'confirmation_required' && (await findWhenAuthenticatorAppWasAdded(em, id)) === undefined;

/**
 * Shows a page that tells the user that the address belongs to an account. The provider is linked only after the account's owner has signed
 * in or has opened a link sent to the address.
 */
export async function sendExistingAccountPage(
  context: PageContext,
  req: Request,
  res: Response,
  { provider, pending, identity }: VerifiedProviderResponse,
  owner: User,
): Promise<void> {
  const csrf = context.forms.issue(req, res);
  const { issuer, subject, label, refreshToken } = identity;
  const { slug, name } = provider;
  const { interactionUid } = pending;
  const link = { slug, issuer, subject, label, userId: owner.id, csrf, interactionUid, until: Date.now() + lifetimeMs };
  const keptToken = refreshToken !== undefined && refreshToken.length <= refreshTokenLengthMax ? { refreshToken } : {};
  const linkForm = (await canLinkByEmail(context, context.em, owner))
    ? {
        path: `${getIdentityProviderEndpointsBasePath(slug)}/link`,
        pending: encryptPendingAccountLink({ ...link, ...keptToken }, context.keys.identityProviders),
      }
    : undefined;
  const signInPath = signInPathFromInteractionUid(interactionUid);
  sendPage(context, res, existingAccountPage(context.settings, { csrf, provider: name, email: owner.email, linkForm, signInPath }));
}

/** Handles `POST /sign-in/providers/:slug/link`: sends the link to the address of the account. */
export const submitAccountLinkEmailRequest = (context: PageContext) => async (req: Request, res: Response) => {
  const { pending: text } = z.object({ pending: z.string().catch('') }).parse(req.body ?? {});
  const link = readPendingLink(context, req, text);
  const provider = link && (await findEnabledProviderBySlug(context.em, link.slug));
  const user = link && (await context.em.findOne(User, { id: link.userId, status: 'active' }, { disableIdentityMap: true }));
  if (!link || !provider || !user || !(await canLinkByEmail(context, context.em, user))) return sendLinkExpiredPage(context, req, res);
  await context.limits.countAttempt('mail', user.email.toLowerCase(), { address: req.ip });
  await context.em.transactional(async (em) => {
    const now = new Date();
    const { refreshToken, ...mailedLink } = link;
    const sealedRefreshToken = encryptPendingRefreshToken(refreshToken, provider, link.subject, context.keys.identityProviders);
    const content = { purpose: 'account_link', email: user.email, userId: user.id, sealedRefreshToken } as const;
    const token = await storeEmailedLinkAndReturnToken(em, content, now);
    const settings = localizePageSettingsForEmailToUser(context.settings, user.locale);
    const { mail } = settings.messages;
    const names = { provider: provider.name, shop: settings.shop.name };
    const pending = encryptPendingAccountLink(mailedLink, context.keys.identityProviders);
    const query = new URLSearchParams({ token, pending }).toString();
    const url = `${context.provider.issuer}${getIdentityProviderEndpointsBasePath(link.slug)}/link-confirmation?${query}`;
    const message = {
      subject: mail.linkAccountSubject(names),
      text: mail.linkAccount(names),
      button: { url, label: 'linkAccount' as const },
    };
    await queueMail(em, context.keys.mail, renderEmail(user.email, settings, message), now);
  });
  return sendPage(context, res, emailSentPage(context.settings, user.email, signInPathFromInteractionUid(link.interactionUid)));
};

const readQuery = (req: Request): { token: string; pending: string } =>
  z.object({ token: z.string().max(200).catch(''), pending: z.string().max(8000).catch('') }).parse(req.query);

/** Handles `GET /sign-in/providers/:slug/link-confirmation`, the target of the link in the message. */
export const showAccountLinkConfirmationForm = (context: PageContext) => async (req: Request, res: Response) => {
  const { token, pending } = readQuery(req);
  const link = readPendingLink(context, req, pending);
  const emailed = await readEmailedLinkWithoutConsuming(context.em, 'account_link', token, new Date());
  const provider = link && (await findEnabledProviderBySlug(context.em, link.slug));
  if (!link || !provider || emailed?.userId !== link.userId) return sendLinkExpiredPage(context, req, res);
  const content = { csrf: context.forms.issue(req, res), provider: provider.name, email: emailed.email, account: link.label };
  return sendPage(context, res, confirmAccountLinkPage(context.settings, content));
};

/** Handles `POST /sign-in/providers/:slug/link-confirmation`: links the account. */
export const submitAccountLinkConfirmation = (context: PageContext) => async (req: Request, res: Response) => {
  const { token, pending } = readQuery(req);
  const link = readPendingLink(context, req, pending);
  const provider = link && (await findEnabledProviderBySlug(context.em, link.slug));
  if (!link || !provider) return sendLinkExpiredPage(context, req, res);
  const isLinked = await context.em.transactional(async (em) => {
    const now = new Date();
    const emailed = await lockUserAndConsumeEmailedLink(em, 'account_link', token, now);
    if (emailed?.userId !== link.userId) return false;
    const user = await em.findOne(User, { id: link.userId, status: 'active' }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
    if (!user || !canRoleUseProvider(provider, user.role) || !(await canLinkByEmail(context, em, user))) return false;
    const source = getClientAddressAndUserAgent(req);
    if (user.emailVerification !== 'verified') await removeAccessOfEarlierUsers(em, user, source, now);
    const id = await addLinkedAccount(em, user.id, link, now);
    if (id === undefined) return false;
    const { identityProviders: key } = context.keys;
    const refreshToken = decryptPendingRefreshToken(emailed.sealedRefreshToken, provider, link.subject, key);
    await storeProviderRefreshToken(em, key, provider, { linkedAccountId: id, refreshToken }, now);
    const event = { action: 'linked_account.added', actorId: user.id, userId: user.id, subject: `linked_account:${id}` } as const;
    await recordAuditEvent(em, source, event, now);
    const { email, locale = null } = user;
    const notification = renderSecurityChangeEmail(context, { email, locale }, { action: event.action, req, now });
    await queueMail(em, context.keys.mail, notification, now);
    return true;
  });
  if (!isLinked) return sendLinkExpiredPage(context, req, res);
  const { linkedTitle: title, linked } = context.settings.messages.providers;
  const { name } = provider;
  return sendProviderMessagePage(context, res, {
    name,
    title,
    text: linked({ provider: name }),
    interactionUid: link.interactionUid,
    status: 200,
  });
};

/**
 * Removes every credential and session of an account whose address was not verified until now. An attacker may have created these
 * credentials and sessions to keep access after the owner of the address starts to use the account.
 */
async function removeAccessOfEarlierUsers(em: EntityManager, user: User, source: RequestSource, now: Date): Promise<void> {
  const removed = await listNonPasswordCredentials(em, user.id, now);
  await markEmailVerifiedAndAudit(em, user, source, now);
  await em.nativeDelete(StoredPasswordHash, { user: user.id });
  await removeNonPasswordCredentialsNotKept(em, user.id, { removed, kept: [] }, source, now);
  await revokeGrantsAndSessionsOfUser(em, user.id);
}

/** Sends a page that tells the user that the link cannot be used, because it has expired or was opened in a different browser. */
export const sendLinkExpiredPage = async (context: PageContext, req: Request, res: Response): Promise<void> => {
  const slug = String(req.params['slug']);
  const name = (await findEnabledProviderBySlug(context.em, slug))?.name ?? slug;
  const { messages } = context.settings;
  const text = `${messages.linkExpired.text} ${messages.providers.otherBrowser({ provider: name })}`;
  return sendProviderMessagePage(context, res, { name, title: messages.linkExpired.title, text, interactionUid: null, status: 400 });
};

/** Sends the page for an expired link after a submission without a valid CSRF token. */
export const showLinkExpiredOnCsrfError = (context: PageContext) => (req: Request, res: Response) => sendLinkExpiredPage(context, req, res);
