import type { Server as HttpServer } from 'node:http';
import { Server } from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import type { Logger } from 'pino';
import { reloadFilesPeriodically } from './reload-files-periodically.ts';
import { createSecureContextOptions, getCertificateExpiryDate, readTlsFiles, type TlsFilePaths, type TlsKeyPair } from './tls-files.ts';

const expiryWarningDays = 14;
const day = 86_400_000;

/**
 * Reloads the certificate when its files change, without affecting open connections. While the certificate and the key do not match,
 * because one of the files has not been written yet, the old certificate and key stay in use.
 */
export function reloadTlsFilesOnChange(server: HttpServer, files: TlsFilePaths, pair: TlsKeyPair, log: Logger): Disposable {
  if (!(server instanceof Server)) throw new Error('the server does not use TLS');
  const active = new ActiveCertificate(server, pair, log);
  const errorMessage = 'the new certificate files are invalid: the current certificate remains in use';
  return reloadFilesPeriodically({ read: () => readTlsFiles(files), use: (current) => active.use(current), errorMessage }, log);
}

type CertificateServer = { setSecureContext(options: SecureContextOptions): void };

class ActiveCertificate {
  readonly #server: CertificateServer;
  readonly #log: Logger;
  #activePem: string;
  #lastWarningAt = Number.NEGATIVE_INFINITY;

  constructor(server: CertificateServer, pair: TlsKeyPair, log: Logger) {
    [this.#server, this.#log] = [server, log];
    this.#activePem = pemText(pair);
    this.#warnBeforeExpiry(pair);
  }

  use(pair: TlsKeyPair): void {
    if (pemText(pair) === this.#activePem) return this.#warnBeforeExpiry(pair);
    this.#server.setSecureContext(createSecureContextOptions(pair));
    this.#activePem = pemText(pair);
    this.#lastWarningAt = Number.NEGATIVE_INFINITY;
    this.#log.info({ expires: getCertificateExpiryDate(pair) }, 'new connections get the new certificate');
    this.#warnBeforeExpiry(pair);
  }

  /** Warns about the certificate's expiry, at most once a day. */
  #warnBeforeExpiry(pair: TlsKeyPair): void {
    const [expires, now] = [getCertificateExpiryDate(pair), Date.now()];
    if (expires.getTime() > now + expiryWarningDays * day || now < this.#lastWarningAt + day) return;
    this.#lastWarningAt = now;
    this.#log.warn({ expires }, 'the certificate expires soon or has expired');
  }
}

const pemText = ({ cert, key }: TlsKeyPair): string => `${cert.toString()}\n${key.toString()}`;
