import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Database } from '../../../server/database/entity-manager/entity-manager.ts';
import { deliverMail } from '../../../server/mail/deliver-mail.ts';
import type { Mail } from '../../../server/mail/queue-mail.ts';

/** Gives every message to an address so far, after whatever waits has left. */
type Mailbox = (address: string) => Promise<readonly Mail[]>;

const mailboxes = new Map<string, Mailbox>();

/** Where the messages of a server of these tests go. */
export function openMailbox(origin: string, db: Database, key: Buffer): void {
  const mails: Mail[] = [];
  const complain = (details: object): never => {
    throw new Error(`a message could not be sent: ${JSON.stringify(details)}`);
  };
  const transport = { send: async (mail: Mail) => void mails.push(mail) };
  const deliver = async (): Promise<void> => {
    while ((await deliverMail(db.em.fork(), new Date(), transport, key, { warn: complain })) > 0);
  };
  // One after the other: a message in the hands of another delivery is skipped, and not yet in `mails`.
  let delivered = Promise.resolve();
  mailboxes.set(origin, async (address) => {
    delivered = delivered.then(deliver, deliver);
    await delivered;
    return mails.filter(({ to }) => isTo(to, address));
  });
}

/** The same for servers in processes of their own, which say in their log what they would send. */
export function openLoggedMailbox(origin: string, output: () => string): void {
  const seen = new Set<string>();
  mailboxes.set(origin, async (address) => {
    const messages = (): Mail[] => said(output()).filter(({ to }) => isTo(to, address));
    // messages leave once a second; whoever asks waits for one that they have not seen
    for (const end = Date.now() + 30_000; messages().every(({ text }) => seen.has(text)) && Date.now() < end; await sleep(50));
    for (const { text } of messages()) seen.add(text);
    return messages();
  });
}

const isTo = (to: string, address: string): boolean => to.toLowerCase() === address.toLowerCase();

/** What a server in development would send, as it stands in its log. */
function said(output: string): Mail[] {
  const lines = output.matchAll(/a message that would be sent to=("[^"]*") subject=("(?:[^"\\]|\\.)*") text=("(?:[^"\\]|\\.)*")/g);
  return [...lines].map(([, ...fields]) => {
    const [to = '', subject = '', text = ''] = fields.map((field) => z.string().parse(JSON.parse(field)));
    return { to, subject, text, html: '' };
  });
}

/** Every message to an address so far. */
export async function mailsTo(origin: string, address: string): Promise<readonly Mail[]> {
  const mailbox = mailboxes.get(origin);
  if (!mailbox) throw new Error(`no mailbox for ${origin}`);
  return mailbox(address);
}

export async function lastMailTo(origin: string, address: string): Promise<Mail> {
  const mail = (await mailsTo(origin, address)).at(-1);
  if (!mail) throw new Error(`no message to ${address}`);
  return mail;
}

/** The link that a message is about. */
export function linkIn({ text }: Mail): string {
  const link = /https?:\S+/.exec(text)?.[0];
  if (link === undefined) throw new Error(`no link in: ${text}`);
  return link;
}

export const followMailTo = async (origin: string, address: string): Promise<string> => linkIn(await lastMailTo(origin, address));
