import type { Server as HttpServer } from 'node:http';
import { Server } from 'node:https';
import type { Logger } from 'pino';
import { expiryOf, readTlsFiles, type TlsFiles, type TlsPair } from './tls-files.ts';

const lookEveryMs = 5_000;
const soonDays = 14;
const day = 86_400_000;

/**
 * Follows the files of the certificate: new connections get the new one, those that are open go on. Files are read now and then
 * rather than watched, because what renews certificates puts links and directories in their places; and at once on SIGHUP. Two
 * that do not belong together, as when one is written and the other is not yet, change nothing.
 */
export function followTlsFiles(server: HttpServer, files: TlsFiles, pair: TlsPair, log: Logger): Disposable {
  if (!(server instanceof Server)) throw new Error('a server without TLS');
  const reload = new TlsReload(server, files, pair, log);
  const look = (): void => reload.look();
  process.on('SIGHUP', look);
  const looking = setInterval(look, lookEveryMs).unref();
  return {
    [Symbol.dispose]() {
      process.off('SIGHUP', look);
      clearInterval(looking);
    },
  };
}

type TakesCertificates = { setSecureContext(pair: TlsPair): void };

class TlsReload {
  readonly #server: TakesCertificates;
  readonly #files: TlsFiles;
  readonly #log: Logger;
  #serving: string;
  #complained = '';
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(server: TakesCertificates, files: TlsFiles, pair: TlsPair, log: Logger) {
    [this.#server, this.#files, this.#log] = [server, files, log];
    this.#serving = textOf(pair);
    this.#warnOfEnd(pair);
  }

  /** Looks at the files now. */
  look(): void {
    try {
      const pair = readTlsFiles(this.#files);
      this.#complained = '';
      if (textOf(pair) === this.#serving) return this.#warnOfEnd(pair);
      this.#server.setSecureContext(pair);
      this.#serving = textOf(pair);
      this.#warnedAt = Number.NEGATIVE_INFINITY;
      this.#log.info({ expires: expiryOf(pair) }, 'new connections get the new certificate');
      this.#warnOfEnd(pair);
    } catch (error) {
      const { message } = error instanceof Error ? error : new Error(String(error));
      if (message === this.#complained) return;
      this.#complained = message;
      this.#log.error({ err: error }, 'the certificate stays the one it was: the files it would be renewed from cannot be used');
    }
  }

  /** Once a day. */
  #warnOfEnd(pair: TlsPair): void {
    const [expires, now] = [expiryOf(pair), Date.now()];
    if (expires.getTime() > now + soonDays * day || now < this.#warnedAt + day) return;
    this.#warnedAt = now;
    this.#log.warn({ expires }, 'the certificate ends soon, or has ended');
  }
}

const textOf = ({ cert, key }: TlsPair): string => `${cert.toString()}\n${key.toString()}`;
