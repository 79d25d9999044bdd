import { z } from 'zod';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { statement } from '../database/queries/prepared-statement.ts';
import { unseal } from '../crypto/authenticated-encryption.ts';
import { mailLabel } from './mail.ts';
import type { Mail } from './mail.ts';

export type MailTransport = { send(mail: Mail): Promise<void> };

/** The server that was asked to take the message will never do so: nothing to try again. */
export class MailRefusedError extends Error {
  override readonly name = 'MailRefusedError';
}

const batch = 20;
const attemptsMax = 8;
const minutes = 60_000;
/** Longer than any attempt takes: whoever takes a message off the queue has it for that long. */
const lease = 5 * minutes;

const takeDue = statement<{ id: number; sealed: string; attempts: number }>(
  'take_due_mails',
  `update outgoing_mails set attempts = attempts + 1, due_at = $2
   where id in (select id from outgoing_mails where due_at <= $1 order by due_at limit ${batch} for update skip locked)
   returning id, sealed, attempts`,
);
const remove = statement('remove_mail', 'delete from outgoing_mails where id = $1');
const postpone = statement('postpone_mail', 'update outgoing_mails set due_at = $2 where id = $1');

const storedMail = z.object({ to: z.string(), subject: z.string(), text: z.string(), html: z.string() });

/**
 * Sends what is due and says how many messages left. What fails is tried again later and later for about a day; a process that
 * dies meanwhile loses nothing, though somebody may get a message twice.
 */
export async function deliverMail(
  em: Em,
  now: Date,
  transport: MailTransport,
  key: Buffer,
  log: { warn(details: object, message: string): void },
): Promise<number> {
  const due = await takeDue(em, [now, new Date(now.getTime() + lease)]);
  let sent = 0;
  for (const { id, sealed, attempts } of due) {
    const mail = unseal(sealed, key, mailLabel);
    const failure = mail === undefined ? new MailRefusedError('sealed with another secret') : await attempt(transport, mail);
    if (failure === undefined) sent += 1;
    const over = failure instanceof MailRefusedError || attempts >= attemptsMax;
    if (failure !== undefined) log.warn({ err: failure, mail_id: id, attempts }, over ? 'a message is given up' : 'a message waits');
    if (failure === undefined || over) await remove(em, [id]);
    else await postpone(em, [id, new Date(now.getTime() + 4 ** Math.min(attempts, 6) * (minutes / 4))]);
  }
  return sent;
}

async function attempt(transport: MailTransport, mail: string): Promise<unknown> {
  try {
    await transport.send(storedMail.parse(JSON.parse(mail)));
    return undefined;
  } catch (error) {
    return error;
  }
}
