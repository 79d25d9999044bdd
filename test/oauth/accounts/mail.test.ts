import { once } from 'node:events';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { deliverQueuedMail, type MailTransport } from '../../../server/mail/deliver-queued-mail.ts';
import { queueMail } from '../../../server/mail/queue-mail.ts';
import { createSmtpTransport } from '../../../server/mail/smtp-transport.ts';
import { createMigratedDatabase } from '../../support/services/database.ts';

const key = Buffer.alloc(32, 7);
const msPerMinute = 60_000;
const mail = { to: 'ann@example.com', subject: 'Grüße, and\r\nBcc: eve@example.com', text: 'Hello,\n\nlink', html: '<p>Hello</p>' };

/** If set, the mail server rejects every recipient with this error. */
let recipientError: { readonly responseCode: number } | undefined;
const received: { to: string[]; raw: string }[] = [];
let smtp: SMTPServer;
let transport: Awaited<ReturnType<typeof createSmtpTransport>>;
let db: Database;
const warnings: string[] = [];
const log = { warn: (details: object, message: string) => void warnings.push(`${message} ${JSON.stringify(details)}`) };

beforeAll(async () => {
  smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, done) => done(recipientError && Object.assign(new Error('no'), recipientError)),
    onData(stream, { envelope }, done) {
      let raw = '';
      stream.on('data', (chunk) => (raw += String(chunk)));
      stream.on('end', () => {
        received.push({ to: envelope.rcptTo.map(({ address }) => address), raw });
        done();
      });
    },
  });
  smtp.listen(0, '127.0.0.1');
  await once(smtp.server, 'listening');
  const { port } = z.object({ port: z.number() }).parse(smtp.server.address());
  transport = await createSmtpTransport(`smtp://127.0.0.1:${port}`, 'Shop <shop@example.com>');
  db = await createMigratedDatabase();
});
afterAll(async () => {
  transport.close();
  await new Promise<void>((closed) => smtp.close(closed));
  await db.close();
});
beforeEach(async () => {
  recipientError = undefined;
  received.length = 0;
  warnings.length = 0;
  await db.em.fork().execute('delete from outgoing_mails');
});

const deliver = (now: Date, mailTransport: MailTransport = transport) => deliverQueuedMail(db.em.fork(), now, mailTransport, key, log);
const countQueuedMails = async (): Promise<number> => (await db.em.fork().execute('select 1 from outgoing_mails')).length;

test('a message reaches only its recipient, even with line breaks in its fields', async () => {
  const now = new Date();
  await queueMail(db.em.fork(), key, mail, now);
  expect([await deliver(now), await countQueuedMails()]).toEqual([1, 0]);
  const [message] = received;
  expect(message?.to).toEqual(['ann@example.com']);
  const parsed = await PostalMime.parse(message?.raw ?? '');
  expect(parsed).toMatchObject({
    from: { address: 'shop@example.com', name: 'Shop' },
    to: [{ address: 'ann@example.com', name: '' }],
    subject: expect.stringMatching(/^Grüße, and\s+Bcc: eve@example\.com$/),
  });
  expect([parsed.text?.trim(), parsed.html?.trim()]).toEqual([mail.text, mail.html]);
  expect(parsed.headers.find(({ key: name }) => name === 'auto-submitted')?.value).toBe('auto-generated');
  expect(parsed.bcc).toBeUndefined();
});

test('a sender name replaces the configured name, but not the address', async () => {
  const now = new Date();
  await queueMail(db.em.fork(), key, { ...mail, senderName: 'Ann & "Söhne" <eve@example.com>' }, now);
  await deliver(now);
  const { from } = await PostalMime.parse(received[0]?.raw ?? '');
  expect(from).toEqual({ address: 'shop@example.com', name: 'Ann & "Söhne" <eve@example.com>' });
});

test('a recipient field with two addresses does not reach the second address', async () => {
  const now = new Date();
  await queueMail(db.em.fork(), key, { ...mail, to: 'ann@example.com, eve@example.com' }, now);
  await deliver(now);
  expect(received.flatMap(({ to }) => to)).not.toContain('eve@example.com');
});

describe('a failed delivery', () => {
  test('is retried with growing delays, and at most eight times', async () => {
    let now = new Date();
    await queueMail(db.em.fork(), key, mail, now);
    recipientError = { responseCode: 451 };
    const pauses: number[] = [];
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      expect(await deliver(now)).toBe(0);
      expect(await deliver(now)).toBe(0); // the retry is not due yet
      const [row] = await db.em.fork().execute<{ due_at: string }[]>('select due_at from outgoing_mails');
      if (!row) break;
      pauses.push(new Date(row.due_at).getTime() - now.getTime());
      now = new Date(row.due_at);
    }
    expect(pauses).toEqual([1, 4, 16, 64, 256, 1024, 1024].map((count) => count * msPerMinute));
    expect(await countQueuedMails()).toBe(0);
    expect(warnings.at(-1)).toMatch(/^gave up sending a message/);
  });

  test('succeeds at the next attempt when the mail server accepts messages again', async () => {
    const now = new Date();
    await queueMail(db.em.fork(), key, mail, now);
    recipientError = { responseCode: 451 };
    await deliver(now);
    recipientError = undefined;
    expect(await deliver(new Date(now.getTime() + msPerMinute))).toBe(1);
  });

  test('with a permanent error is not retried', async () => {
    const now = new Date();
    await queueMail(db.em.fork(), key, mail, now);
    recipientError = { responseCode: 550 };
    await deliver(now);
    expect([await countQueuedMails(), warnings[0]?.startsWith('gave up sending a message')]).toEqual([0, true]);
    expect(warnings.join()).not.toContain('link');
  });

  test('to an unreachable mail server stays queued', async () => {
    const now = new Date();
    await queueMail(db.em.fork(), key, mail, now);
    const unreachableTransport = await createSmtpTransport('smtp://127.0.0.1:1', 'shop@example.com');
    await deliver(now, unreachableTransport);
    unreachableTransport.close();
    expect(await countQueuedMails()).toBe(1);
  });
});

test('concurrent deliveries send each message once', async () => {
  const now = new Date();
  for (let at = 0; at < 10; at += 1) await queueMail(db.em.fork(), key, { ...mail, to: `ann${at}@example.com` }, now);
  const sent = await Promise.all([deliver(now), deliver(now), deliver(now)]);
  expect(sent.reduce((sum, one) => sum + one, 0)).toBe(10);
  expect(new Set(received.flatMap(({ to }) => to)).size).toBe(10);
});

test('if a process crashes while it delivers a message, the message is sent again after five minutes', async () => {
  const now = new Date();
  await queueMail(db.em.fork(), key, mail, now);
  const hangingTransport = { send: () => new Promise<void>(() => undefined) };
  void deliver(now, hangingTransport);
  await expect.poll(async () => (await db.em.fork().execute('select 1 from outgoing_mails where attempts = 1')).length).toBe(1);
  expect(await deliver(new Date(now.getTime() + msPerMinute))).toBe(0);
  expect(await deliver(new Date(now.getTime() + 5 * msPerMinute))).toBe(1);
});

test('the database contains no part of a message as plain text', async () => {
  await queueMail(db.em.fork(), key, mail, new Date());
  const rows = JSON.stringify(await db.em.fork().execute('select m::text as row from outgoing_mails m'));
  for (const secret of [mail.to, 'Hello', 'link']) expect(rows).not.toContain(secret);
});
