import { randomBytes } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import { sha256 } from '../../crypto/sha256.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { buildEmailEqualsFilter } from '../../users/build-email-equals-filter.ts';
import { User } from '../../users/user.entity.ts';
import { EmailedOneTimeLink } from './emailed-one-time-link.entity.ts';

export type EmailLinkPurpose = 'sign_up' | 'password_reset' | 'email_change' | 'account_link';
export type EmailLinkContent = {
  readonly purpose: EmailLinkPurpose;
  readonly email: string;
  readonly userId: number | null;
  /** Encrypted refresh token for the provider account to link; set only if `purpose` is `account_link`. */
  readonly sealedRefreshToken?: string | null;
};

const linkLifetimeMs = 60 * 60 * 1000;

const hashToken = (token: string): string => sha256(token, 'base64url');

/** Creates a link and returns its token. Only the token's hash is stored. */
export async function storeEmailedLinkAndReturnToken(
  em: EntityManager,
  { purpose, email, userId, sealedRefreshToken = null }: EmailLinkContent,
  now: Date,
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const expiresAt = new Date(now.getTime() + linkLifetimeMs);
  await em.insert(EmailedOneTimeLink, { tokenHash: hashToken(token), purpose, user: userId, email, expiresAt, sealedRefreshToken });
  return token;
}

/** Returns a link's content without consuming the link, because mail programs open links before users do. */
export const readEmailedLinkWithoutConsuming = (
  em: EntityManager,
  purpose: EmailLinkPurpose,
  token: string,
  now: Date,
): Promise<EmailLinkContent | undefined> => findUsableLink(em, activeLinkFilter(purpose, token, now), undefined);

/**
 * Consumes a link and returns its content. If two requests use the link concurrently, only one of them receives the content. Call this in
 * the same transaction as the action that the link authorizes. Locks the user before the link, in the same order as the function that
 * changes the e-mail address and deletes the links, to avoid deadlocks.
 */
export async function lockUserAndConsumeEmailedLink(
  em: EntityManager,
  purpose: EmailLinkPurpose,
  token: string,
  now: Date,
): Promise<EmailLinkContent | undefined> {
  const active = activeLinkFilter(purpose, token, now);
  const content = await findUsableLink(em, active, LockMode.PESSIMISTIC_WRITE);
  return content && (await em.nativeDelete(EmailedOneTimeLink, active)) > 0 ? content : undefined;
}

const activeLinkFilter = (purpose: EmailLinkPurpose, token: string, now: Date) => ({
  tokenHash: hashToken(token),
  purpose,
  expiresAt: { $gt: now },
});

/**
 * Finds a link that can be used, and locks its user if `lockMode` is set. A link for a password reset or for linking an identity provider
 * can be used only if it was sent to the account's current e-mail address and this address is not awaiting confirmation.
 */
async function findUsableLink(
  em: EntityManager,
  active: ReturnType<typeof activeLinkFilter>,
  lockMode: LockMode.PESSIMISTIC_WRITE | undefined,
): Promise<EmailLinkContent | undefined> {
  const link = await em.findOne(EmailedOneTimeLink, active, { disableIdentityMap: true });
  if (!link) return undefined;
  const { purpose, email, user: userId = null, sealedRefreshToken = null } = link;
  const lock = lockMode === undefined ? {} : { lockMode };
  const user = userId === null ? null : await em.findOne(User, { id: userId }, { ...lock, disableIdentityMap: true });
  const requiresCurrentAddress = purpose === 'password_reset' || purpose === 'account_link';
  const isUsable = !requiresCurrentAddress || (user?.email === email && user.emailVerification !== 'confirmation_required');
  return isUsable ? { purpose, email, userId, sealedRefreshToken } : undefined;
}

/** Deletes all of a user's links. Call this when the password or the e-mail address changes. */
export async function deleteEmailedLinksOfUser(em: EntityManager, userId: number): Promise<void> {
  await em.nativeDelete(EmailedOneTimeLink, { user: userId });
}

/** Deletes every link of an account whose e-mail address changes, and every link that was sent to the old or the new address. */
export async function deleteEmailedLinksOfUserAndAddresses(
  em: EntityManager,
  { userId, from, to }: { userId: number; from: string; to: string },
): Promise<void> {
  await deleteEmailedLinksOfUser(em, userId);
  await em.nativeDelete(EmailedOneTimeLink, buildEmailEqualsFilter(from, to));
}
