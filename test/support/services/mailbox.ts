import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { deliverQueuedMail } from '../../../server/mail/deliver-queued-mail.ts';
import type { Mail } from '../../../server/mail/queue-mail.ts';

/** Delivers all queued e-mails, and returns all e-mails sent to an address. */
type Mailbox = (address: string) => Promise<readonly Mail[]>;

const mailboxes = new Map<string, Mailbox>();

/** Registers a mailbox for a server in this process. */
export function openMailbox(origin: string, db: Database, key: Buffer): void {
  const mails: Mail[] = [];
  const throwOnWarning = (details: object): never => {
    throw new Error(`an e-mail could not be sent: ${JSON.stringify(details)}`);
  };
  const transport = { send: async (mail: Mail) => void mails.push(mail) };
  const deliver = async (): Promise<void> => {
    while ((await deliverQueuedMail(db.em.fork(), new Date(), transport, key, { warn: throwOnWarning })) > 0);
  };
  // Deliveries run sequentially, because a delivery skips e-mails that a concurrent delivery has locked.
  let delivered = Promise.resolve();
  mailboxes.set(origin, async (address) => {
    delivered = delivered.then(deliver, deliver);
    await delivered;
    return mails.filter(({ to }) => isTo(to, address));
  });
}

/** Removes a server's mailbox, which would otherwise keep the database in memory for all subsequent test files. */
export const closeMailbox = (origin: string): void => void mailboxes.delete(origin);

/** Registers a mailbox for server processes in development mode, which log e-mails instead of sending them. */
export function openLoggedMailbox(origin: string, output: () => string): void {
  const seen = new Set<string>();
  mailboxes.set(origin, async (address) => {
    const messages = (): Mail[] => parseLoggedMails(output()).filter(({ to }) => isTo(to, address));
    // the server sends e-mails once per second, so wait for an e-mail that no earlier call returned
    for (const end = Date.now() + 30_000; messages().every(({ text }) => seen.has(text)) && Date.now() < end; await sleep(50));
    for (const { text } of messages()) seen.add(text);
    return messages();
  });
}

const isTo = (to: string, address: string): boolean => to.toLowerCase() === address.toLowerCase();

/** Parses the e-mails in a development-mode server's log. */
function parseLoggedMails(output: string): Mail[] {
  const lines = output.matchAll(/a message that would be sent to=("[^"]*") subject=("(?:[^"\\]|\\.)*") text=("(?:[^"\\]|\\.)*")/g);
  return [...lines].map(([, ...fields]) => {
    const [to = '', subject = '', text = ''] = fields.map((field) => z.string().parse(JSON.parse(field)));
    return { to, subject, text, html: '' };
  });
}

/** Returns all e-mails sent to an address so far. */
export async function readMailsTo(origin: string, address: string): Promise<readonly Mail[]> {
  const mailbox = mailboxes.get(origin);
  if (!mailbox) throw new Error(`no mailbox for ${origin}`);
  return mailbox(address);
}

export async function readLastMailTo(origin: string, address: string): Promise<Mail> {
  const mail = (await readMailsTo(origin, address)).at(-1);
  if (!mail) throw new Error(`no e-mail to ${address}`);
  return mail;
}

/** Returns the first link in an e-mail. */
export function extractLink({ text }: Mail): string {
  const link = /https?:\S+/.exec(text)?.[0];
  if (link === undefined) throw new Error(`no link in: ${text}`);
  return link;
}

export const readMailLink = async (origin: string, address: string): Promise<string> => extractLink(await readLastMailTo(origin, address));
