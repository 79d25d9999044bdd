import { MailRejectedError, type MailTransport } from './deliver-queued-mail.ts';

type SmtpTransport = MailTransport & {
  /** Connects and authenticates. Throws an error if the server rejects the connection or the credentials. */
  verify(): Promise<unknown>;
  close(): void;
};

/** Creates an SMTP transport from a URL such as `smtp://user:password@host:587`. The scheme `smtps://` selects implicit TLS. */
export async function createSmtpTransport(url: string, from: string): Promise<SmtpTransport> {
  const { createTransport } = await import('nodemailer');
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === 'smtps:';
  const transport = createTransport({
    host: hostname.replaceAll(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 465 : 587) : Number(port),
    secure,
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    pool: true,
    connectionTimeout: 5_000,
    greetingTimeout: 5_000,
    socketTimeout: 10_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ to, subject, text, html, senderName }) {
      try {
        await transport.sendMail({
          from: senderName === undefined ? from : { name: senderName, address: parseAddress(from) },
          to: { name: '', address: to }, // an object is always treated as a single recipient, whereas a string could be parsed as a list
          subject,
          text,
          html,
          headers: { 'Auto-Submitted': 'auto-generated' },
        });
      } catch (error) {
        if (isFinal(error)) throw new MailRejectedError('the mail server rejected the message', { cause: error });
        throw error;
      }
    },
    verify: () => transport.verify(),
    close: () => transport.close(),
  };
}

/** Returns the e-mail address of a sender such as `Shop <shop@example.com>` or `shop@example.com`. */
const parseAddress = (from: string): string => /<([^<>]+)>$/.exec(from.trim())?.[1] ?? from.trim();

/** Returns whether the SMTP status code indicates a permanent failure (5yz, RFC 5321 section 4.2.1). */
const isFinal = (error: unknown): boolean =>
  error instanceof Error && 'responseCode' in error && typeof error.responseCode === 'number' && error.responseCode >= 500;
