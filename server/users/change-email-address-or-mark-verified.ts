import { recordAuditEvent, type RequestSource } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { recordEvent } from '../events/record-event.ts';
import type { OnEmailAddressChange } from '../http/routing/handler-dependencies.ts';
import { rethrowUniqueViolationAsEmailTaken } from './rethrow-email-taken.ts';
import { userFromEntity } from './user-from-entity.ts';
import type { User } from './user.entity.ts';

export type EmailAddressChange = {
  readonly email: string;
  /** Whether the account owner has confirmed the new address. */
  readonly isVerified: boolean;
  readonly actorId?: number | undefined;
  readonly clientId?: string | undefined;
  readonly source: RequestSource;
};

/**
 * Changes an account's e-mail address. The transaction must have locked the user for update. Every address change after account creation
 * uses this function, which records the change in the audit log, notifies the old and the new address, and invalidates every link that has
 * been e-mailed. The caller records the user event.
 * @throws Problem `email_taken`
 */
export async function changeEmailAddressNotifyAndAudit(
  em: EntityManager,
  onChange: OnEmailAddressChange,
  user: User,
  { email, isVerified, actorId, clientId, source }: EmailAddressChange,
  now: Date,
): Promise<void> {
  const from = user.email;
  user.replaceEmailAddress(email, isVerified);
  await em.flush().catch(rethrowUniqueViolationAsEmailTaken);
  await onChange(em, { userId: user.id, from, to: email, isVerified, locale: user.locale ?? null }, now);
  const details = { verified: isVerified };
  await recordAuditEvent(em, source, { action: 'email.changed', actorId, clientId, userId: user.id, details }, now);
}

/** Marks a locked user's e-mail address as verified, after the address owner has followed a link sent to the address. */
export async function markEmailVerifiedAndAudit(em: EntityManager, user: User, source: RequestSource, now: Date): Promise<void> {
  if (!user.markEmailVerified()) return;
  await em.flush();
  await recordEvent(em, 'user.updated', userFromEntity(user), user.id);
  await recordAuditEvent(em, source, { action: 'email.verified', actorId: user.id, userId: user.id }, now);
}
