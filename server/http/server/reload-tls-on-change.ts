import type { Server as HttpServer } from 'node:http';
import { Server } from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import type { Logger } from 'pino';
import { createSecureContextOptions, getCertificateExpiryDate, readTlsFiles, type TlsFilePaths, type TlsKeyPair } from './tls-files.ts';

const checkIntervalMs = 5_000;
const expiryWarningDays = 14;
const day = 86_400_000;

/**
 * Reloads the certificate when its files change, without affecting open connections. The files are checked periodically and on SIGHUP. The
 * files are not watched, because renewal tools replace links and directories. While the certificate and the key do not match (because one
 * of the files has not been written yet), the old certificate and key stay in use.
 */
export function reloadTlsOnChange(server: HttpServer, files: TlsFilePaths, pair: TlsKeyPair, log: Logger): Disposable {
  if (!(server instanceof Server)) throw new Error('the server does not use TLS');
  const reload = new TlsReload(server, files, pair, log);
  const checkFiles = (): void => reload.checkFiles();
  process.on('SIGHUP', checkFiles);
  const timer = setInterval(checkFiles, checkIntervalMs).unref();
  return {
    [Symbol.dispose]() {
      process.off('SIGHUP', checkFiles);
      clearInterval(timer);
    },
  };
}

type CertificateServer = { setSecureContext(options: SecureContextOptions): void };

class TlsReload {
  readonly #server: CertificateServer;
  readonly #files: TlsFilePaths;
  readonly #log: Logger;
  #activePem: string;
  #lastError = '';
  #lastWarningAt = Number.NEGATIVE_INFINITY;

  constructor(server: CertificateServer, files: TlsFilePaths, pair: TlsKeyPair, log: Logger) {
    [this.#server, this.#files, this.#log] = [server, files, log];
    this.#activePem = pemText(pair);
    this.#warnBeforeExpiry(pair);
  }

  checkFiles(): void {
    try {
      const pair = readTlsFiles(this.#files);
      this.#lastError = '';
      if (pemText(pair) === this.#activePem) return this.#warnBeforeExpiry(pair);
      this.#server.setSecureContext(createSecureContextOptions(pair));
      this.#activePem = pemText(pair);
      this.#lastWarningAt = Number.NEGATIVE_INFINITY;
      this.#log.info({ expires: getCertificateExpiryDate(pair) }, 'new connections get the new certificate');
      this.#warnBeforeExpiry(pair);
    } catch (error) {
      const { message } = error instanceof Error ? error : new Error(String(error));
      if (message === this.#lastError) return;
      this.#lastError = message;
      this.#log.error({ err: error }, 'the new certificate files are invalid: the current certificate remains in use');
    }
  }

  /** Warns at most once a day. */
  #warnBeforeExpiry(pair: TlsKeyPair): void {
    const [expires, now] = [getCertificateExpiryDate(pair), Date.now()];
    if (expires.getTime() > now + expiryWarningDays * day || now < this.#lastWarningAt + day) return;
    this.#lastWarningAt = now;
    this.#log.warn({ expires }, 'the certificate expires soon or has expired');
  }
}

const pemText = ({ cert, key }: TlsKeyPair): string => `${cert.toString()}\n${key.toString()}`;
