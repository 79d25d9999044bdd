import type { X509Certificate } from 'node:crypto';
import type { Logger } from 'pino';
import { readCertificateAuthorities } from './certificate-authorities-file.ts';
import { reloadFilesPeriodically } from './reload-files-periodically.ts';

/** Options whose list of certificate authorities can be replaced while the server is running. */
type ReplaceableAuthorities = { authorities: readonly X509Certificate[] };

/**
 * Replaces the authorities for client certificates when their file changes, so that an authority can be added or removed without a restart.
 * @param path PEM file that the current authorities were read from
 */
export function reloadCertificateAuthoritiesOnChange(path: string, options: ReplaceableAuthorities, log: Logger): Disposable {
  const use = (authorities: readonly X509Certificate[]): void => {
    if (listFingerprints(authorities) === listFingerprints(options.authorities)) return;
    options.authorities = authorities;
    log.info({ authorities: authorities.map(({ subject }) => subject) }, 'the authorities for client certificates have changed');
  };
  const errorMessage = 'the new file of MANDATE_CLIENT_CA is invalid: the current authorities remain in use';
  return reloadFilesPeriodically({ read: () => readCertificateAuthorities(path), use, errorMessage }, log);
}

const listFingerprints = (authorities: readonly X509Certificate[]): string =>
  authorities.map(({ fingerprint256 }) => fingerprint256).join(' ');
