import { once } from 'node:events';
import { SMTPServer } from 'smtp-server';
import { z } from 'zod';

export type ReceivedMail = { readonly user: string; readonly to: readonly string[]; readonly raw: string };

export type MailServer = AsyncDisposable & {
  readonly port: number;
  readonly received: ReceivedMail[];
  /** The password required for the user `shop`. */
  password: string;
};

/** Starts an SMTP server that requires a user name and a password. */
export async function openMailServer(): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const smtp = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) =>
      username === 'shop' && password === mail.password ? done(null, { user: username }) : done(new Error('no')),
    onData(stream, { user, envelope }, done) {
      let raw = '';
      stream.on('data', (chunk) => (raw += String(chunk)));
      stream.on('end', () => {
        received.push({ user: String(user), to: envelope.rcptTo.map(({ address }) => address), raw });
        done();
      });
    },
  });
  smtp.listen(0, '127.0.0.1');
  await once(smtp.server, 'listening');
  const { port } = z.object({ port: z.number() }).parse(smtp.server.address());
  const mail: MailServer = {
    port,
    received,
    password: 'p@ss word',
    [Symbol.asyncDispose]: () => new Promise<void>((closed) => smtp.close(closed)),
  };
  return mail;
}
