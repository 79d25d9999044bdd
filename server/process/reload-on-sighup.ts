import { type Config, readConfig } from '../config/config.ts';
import type { Log } from '../logging/logger.ts';
import type { MailTransport } from '../mail/deliver-mail.ts';
import { smtpTransport } from '../mail/smtp-transport.ts';
import { openStripe } from '../payments/providers/stripe-provider.ts';
import type { PaymentProvider } from '../payments/providers/payment-provider.ts';

/** Messages that are on their way by the mail server of before have this long to arrive. */
const leaveMs = 60_000;

/** A transport whose place another one takes. */
export class ReplaceableTransport implements MailTransport {
  #current: MailTransport & { close?(): void };

  constructor(transport: MailTransport) {
    this.#current = transport;
  }

  send(mail: Parameters<MailTransport['send']>[0]): Promise<void> {
    return this.#current.send(mail);
  }

  replace(transport: MailTransport): void {
    const before = this.#current;
    this.#current = transport;
    setTimeout(() => before.close?.(), leaveMs).unref();
  }
}

type Replaceable = { readonly transport: ReplaceableTransport | undefined; readonly providers: Map<string, PaymentProvider> };

const takenAtStart = ['databaseUrl', 'directDatabaseUrl', 'replicaUrl', 'secret', 'redisUrl'] as const;

/**
 * On SIGHUP the files that hold secrets are read again. What is sent to the mail server and to Stripe is so with what they say now;
 * what the process was put together with takes a new start, and is named. When anything is wrong, everything stays as it was.
 */
export function reloadSecretsOnHangup(config: Config, parts: Replaceable, log: Log): Disposable {
  let current = config;
  const reload = async (): Promise<void> => {
    try {
      const fresh = readConfig();
      await replace(current, fresh, parts);
      const late = takenAtStart.filter((name) => fresh[name] !== config[name]);
      current = fresh;
      log.info('secrets were read again');
      if (late.length > 0) log.warn({ changed: late }, 'some secrets have changed that take effect with the next start');
    } catch (error) {
      log.error({ err: error }, 'secrets stay as they were: the configuration cannot be read again');
    }
  };
  const listener = (): void => void reload();
  process.on('SIGHUP', listener);
  return { [Symbol.dispose]: () => void process.off('SIGHUP', listener) };
}

async function replace(before: Config, { mail, payments: { stripe } }: Config, { transport, providers }: Replaceable): Promise<void> {
  if (mail && differs(mail, before.mail)) transport?.replace(await smtpTransport(mail.smtpUrl, mail.from));
  if (stripe && differs(stripe, before.payments.stripe)) providers.set('stripe', await openStripe(stripe));
}

const differs = (one: object, other: object | undefined): boolean => JSON.stringify(one) !== JSON.stringify(other);
