import type { MailTransport } from './deliver-queued-mail.ts';

/** Creates a transport that writes mail to the log, for development without a mail server. */
export const createMailLogTransport = (log: { warn(details: object, message: string): void }): MailTransport => ({
  async send({ to, subject, text }) {
    log.warn({ to, subject, text }, 'a message that would be sent');
  },
});
