import { resolve } from 'node:path';
import { findCertificateAuthoritiesFileError } from '../http/server/certificate-authorities-file.ts';
import type { ClientCertificateSource } from '../http/request/client-certificate.ts';

type ClientCertificateVariables = {
  readonly MANDATE_CLIENT_CERTIFICATES: 'off' | 'tls' | 'proxy';
  readonly MANDATE_CLIENT_CERTIFICATE_HEADER?: string | undefined;
  readonly MANDATE_CLIENT_CERTIFICATE_URL?: string | undefined;
  readonly MANDATE_CLIENT_CA?: string | undefined;
  readonly MANDATE_TLS_CERT?: string | undefined;
  readonly MANDATE_TRUST_PROXY: number | string | false;
};

type Fault = { readonly variable: keyof ClientCertificateVariables; readonly message: string };

/** The header that RFC 9440 defines. */
const defaultHeader = 'Client-Cert';

/** Yields the errors in the environment variables for client certificates. */
export function* findClientCertificateFaults(env: ClientCertificateVariables): Generator<Fault> {
  const { MANDATE_CLIENT_CERTIFICATES: source, MANDATE_CLIENT_CA: authorities } = env;
  if (source === 'tls' && env.MANDATE_TLS_CERT === undefined)
    yield { variable: 'MANDATE_CLIENT_CERTIFICATES', message: 'must be off or proxy, unless the server terminates TLS (MANDATE_TLS_CERT)' };
  // if only the number of proxies is configured, any machine that can connect to the server can send any client's certificate in the header
  if (source === 'proxy' && typeof env.MANDATE_TRUST_PROXY !== 'string')
    yield {
      variable: 'MANDATE_TRUST_PROXY',
      message: 'must be the addresses of the proxies, not their number, with MANDATE_CLIENT_CERTIFICATES=proxy',
    };
  for (const variable of ['MANDATE_CLIENT_CERTIFICATE_HEADER', 'MANDATE_CLIENT_CERTIFICATE_URL'] as const)
    if (source !== 'proxy' && env[variable] !== undefined) yield { variable, message: 'requires MANDATE_CLIENT_CERTIFICATES=proxy' };
  if (authorities === undefined) return;
  if (source === 'off') yield { variable: 'MANDATE_CLIENT_CA', message: 'requires MANDATE_CLIENT_CERTIFICATES to be tls or proxy' };
  const message = findCertificateAuthoritiesFileError(authorities);
  if (message !== undefined) yield { variable: 'MANDATE_CLIENT_CA', message };
}

export type ClientCertificateConfig = {
  readonly source: ClientCertificateSource;
  /** File with the CA certificates that the server uses to verify client certificates. */
  readonly authoritiesFile: string | undefined;
  /** Server URL for clients with certificates, if this URL differs from the issuer. */
  readonly url: string | undefined;
};

/** Returns the configuration for client certificates; undefined if the server does not accept client certificates. */
export function toClientCertificateConfig(env: ClientCertificateVariables): ClientCertificateConfig | undefined {
  const { MANDATE_CLIENT_CERTIFICATES: kind, MANDATE_CLIENT_CERTIFICATE_HEADER: header = defaultHeader, MANDATE_CLIENT_CA: file } = env;
  if (kind === 'off') return undefined;
  const source: ClientCertificateSource = kind === 'tls' ? { kind } : { kind: 'header', name: header.toLowerCase() };
  return { source, authoritiesFile: file === undefined ? undefined : resolve(file), url: env.MANDATE_CLIENT_CERTIFICATE_URL };
}
