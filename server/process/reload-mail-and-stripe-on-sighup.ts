import { type Config, readConfig } from '../config/read-config.ts';
import type { Log } from '../logging/logger.ts';
import type { MailTransport } from '../mail/deliver-queued-mail.ts';
import { createSmtpTransport } from '../mail/smtp-transport.ts';
import { createStripeProvider } from '../payments/providers/stripe-provider.ts';
import type { PaymentProvider } from '../payments/providers/payment-provider.ts';

/** Maximum time that the previous transport has to finish sending its messages. */
const oldTransportGraceMs = 60_000;

/** A mail transport that can be replaced while the server runs. */
export class ReplaceableMailTransport implements MailTransport {
  #current: MailTransport & { close?(): void };

  constructor(transport: MailTransport) {
    this.#current = transport;
  }

  send(mail: Parameters<MailTransport['send']>[0]): Promise<void> {
    return this.#current.send(mail);
  }

  replace(transport: MailTransport): void {
    const previous = this.#current;
    this.#current = transport;
    setTimeout(() => previous.close?.(), oldTransportGraceMs).unref();
  }
}

type Replaceable = { readonly transport: ReplaceableMailTransport | undefined; readonly providers: Map<string, PaymentProvider> };

const startOnlySettings = ['databaseUrl', 'directDatabaseUrl', 'replicaUrl', 'secret', 'redisUrl'] as const;

/**
 * Rereads the configuration and the secret files on SIGHUP. New mail and Stripe settings take effect immediately. Changes to settings that
 * require a restart are logged. If the configuration is invalid, nothing changes.
 */
export function reloadMailAndStripeSettingsOnSighup(config: Config, parts: Replaceable, log: Log): Disposable {
  let current = config;
  const reload = async (): Promise<void> => {
    try {
      const reloaded = readConfig();
      await replace(current, reloaded, parts);
      const needsRestart = startOnlySettings.filter((name) => reloaded[name] !== config[name]);
      current = reloaded;
      log.info('secrets reloaded');
      if (needsRestart.length > 0) log.warn({ changed: needsRestart }, 'some changed secrets only take effect after a restart');
    } catch (error) {
      log.error({ err: error }, 'secrets were not reloaded: the configuration is invalid');
    }
  };
  const listener = (): void => void reload();
  process.on('SIGHUP', listener);
  return { [Symbol.dispose]: () => void process.off('SIGHUP', listener) };
}

async function replace(previous: Config, { mail, payments: { stripe } }: Config, { transport, providers }: Replaceable): Promise<void> {
  if (mail && differs(mail, previous.mail)) transport?.replace(await createSmtpTransport(mail.smtpUrl, mail.from));
  if (stripe && differs(stripe, previous.payments.stripe)) providers.set('stripe', await createStripeProvider(stripe));
}

const differs = (first: object, second: object | undefined): boolean => JSON.stringify(first) !== JSON.stringify(second);
