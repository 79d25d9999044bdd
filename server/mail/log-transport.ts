import type { MailTransport } from './deliver-mail.ts';

/** For development without a mail server: what would be sent is said in the log. */
export const logTransport = (log: { warn(details: object, message: string): void }): MailTransport => ({
  async send({ to, subject, text }) {
    log.warn({ to, subject, text }, 'a message that would be sent');
  },
});
