import { recordAuditEvent, type Source } from '../audit/record-audit-event.ts';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { recordEvent } from '../events/record-event.ts';
import type { OnEmailAddressChange } from '../http/routing/handler-dependencies.ts';
import { refuseTakenEmail } from './unique-email.ts';
import { userBody } from './user-body.ts';
import type { User } from './user.entity.ts';

export type EmailAddressChange = {
  readonly email: string;
  /** Whether the owner of the account proved to receive mail at the new address. */
  readonly isVerified: boolean;
  readonly actorId?: number | undefined;
  readonly clientId?: string | undefined;
  readonly source: Source;
};

/**
 * Changes the e-mail address of an account, in a transaction in which the user is locked for update. Every change after the creation
 * of the account comes here, regardless of actor and path: it is recorded in the audit log, the old and the new address are notified,
 * and every link that was mailed earlier is invalidated. The caller records the event of the user.
 * @throws Problem `email_taken`
 */
export async function changeEmailAddress(
  em: Em,
  onChange: OnEmailAddressChange,
  user: User,
  { email, isVerified, actorId, clientId, source }: EmailAddressChange,
  now: Date,
): Promise<void> {
  const from = user.email;
  user.replaceEmailAddress(email, isVerified);
  await em.flush().catch(refuseTakenEmail);
  await onChange(em, { userId: user.id, from, to: email, isVerified }, now);
  const details = { verified: isVerified };
  await recordAuditEvent(em, source, { action: 'email.changed', actorId, clientId, userId: user.id, details }, now);
}

/** Marks the address of a locked user as verified, after its owner followed a link that was mailed there. */
export async function verifyEmailAddress(em: Em, user: User, source: Source, now: Date): Promise<void> {
  if (!user.verifyEmailAddress()) return;
  await em.flush();
  await recordEvent(em, 'user.updated', userBody(user), user.id);
  await recordAuditEvent(em, source, { action: 'email.verified', actorId: user.id, userId: user.id }, now);
}
