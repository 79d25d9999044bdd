import { type InferEntity, LockMode } from '@mikro-orm/core';
import { z } from 'zod';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { leaseLockedRowsAndCountAttempt } from '../database/queries/lease-locked-rows.ts';
import { decryptText } from '../crypto/authenticated-encryption.ts';
import { outgoingMailEncryptionContext } from './queue-mail.ts';
import type { Mail } from './queue-mail.ts';
import { QueuedMail } from './queued-mail.entity.ts';

export type MailTransport = { send(mail: Mail): Promise<void> };

/** Thrown if the SMTP server permanently rejected the message, so that another attempt would be useless. */
export class MailRejectedError extends Error {
  override readonly name = 'MailRejectedError';
}

const batchSize = 20;
const maxAttempts = 8;
const minuteMs = 60_000;
/** How long a process reserves a message. Every delivery attempt finishes before the reservation expires. */
const leaseMs = 5 * minuteMs;

const storedMailSchema = z.object({
  to: z.string(),
  subject: z.string(),
  text: z.string(),
  html: z.string(),
  senderName: z.string().optional(),
});

/**
 * Sends pending messages and returns the number of messages sent. Failed messages are retried with increasing delays for about a day. If
 * the process crashes, no message is lost, but a message may be sent twice.
 */
export async function deliverQueuedMail(
  em: EntityManager,
  now: Date,
  transport: MailTransport,
  key: Buffer,
  log: { warn(details: object, message: string): void },
): Promise<number> {
  const pending = await em.transactional((inner) => claimPending(inner, now));
  let sent = 0;
  for (const { id, sealed, attempts } of pending) {
    const mail = decryptText(sealed, key, outgoingMailEncryptionContext);
    const sendError = mail === undefined ? new MailRejectedError('encrypted with another secret') : await trySend(transport, mail);
    if (sendError === undefined) sent += 1;
    const isFinal = sendError instanceof MailRejectedError || attempts >= maxAttempts;
    if (sendError !== undefined)
      log.warn({ err: sendError, mail_id: id, attempts }, isFinal ? 'gave up sending a message' : 'a message will be retried');
    if (sendError === undefined || isFinal) await em.nativeDelete(QueuedMail, { id });
    else await em.nativeUpdate(QueuedMail, { id }, { dueAt: new Date(now.getTime() + 4 ** Math.min(attempts, 6) * (minuteMs / 4)) });
  }
  return sent;
}

/** Claims a batch of pending messages; messages that another process is claiming are skipped. */
async function claimPending(em: EntityManager, now: Date): Promise<InferEntity<typeof QueuedMail>[]> {
  const options = { orderBy: { dueAt: 'asc' }, limit: batchSize, lockMode: LockMode.PESSIMISTIC_PARTIAL_WRITE, refresh: true } as const;
  return leaseLockedRowsAndCountAttempt(
    em,
    await em.find(QueuedMail, { dueAt: { $lte: now } }, options),
    new Date(now.getTime() + leaseMs),
  );
}

async function trySend(transport: MailTransport, mail: string): Promise<unknown> {
  try {
    await transport.send(storedMailSchema.parse(JSON.parse(mail)));
    return undefined;
  } catch (error) {
    return error;
  }
}
