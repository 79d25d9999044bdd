import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Request, RequestHandler } from 'express';
import { sha256 } from '../../crypto/sha256.ts';
import { getRequestContext } from './request-context-principal-and-access-log.ts';

/** Source of client certificates: the server's own TLS connections, or a header (in lower case) that trusted proxies set. */
export type ClientCertificateSource = { readonly kind: 'tls' } | { readonly kind: 'header'; readonly name: string };

export type ClientCertificateOptions = {
  readonly source: ClientCertificateSource;
  /**
   * CA certificates for `tls_client_auth`. If the list is empty, only self-signed certificates are accepted. The server can replace the
   * list while it runs (but never with an empty list), so each request must read this property.
   */
  readonly authorities: readonly X509Certificate[];
  /** Server URL for clients with certificates, if the proxy requests certificates only at this URL (default: the issuer). */
  readonly url?: string | undefined;
};

/** The certificate that a client presented for its TLS connection, or the reason why the certificate is not accepted. */
export type PresentedCertificate =
  | { readonly certificate: X509Certificate; readonly rejection?: undefined }
  | { readonly certificate?: undefined; readonly rejection: string };

declare module './request-context-principal-and-access-log.ts' {
  interface RequestContext {
    /** Set only if the request can contain a client certificate. */
    clientCertificate?: {
      readonly source: ClientCertificateSource;
      /** Certificate from `source`; set when the certificate is first read. */
      presented?: { readonly value: PresentedCertificate | undefined };
    };
  }
}

/**
 * Makes `getPresentedCertificate` return the client's certificate. A certificate header from any address that is not a trusted proxy is
 * removed, because anyone can send the certificate of another client.
 * @param isTrustedProxy returns whether a connection comes from the address of a trusted proxy
 */
export const setCertificateSourceOrStripHeader =
  (source: ClientCertificateSource, isTrustedProxy: (address: string) => boolean): RequestHandler =>
  (req, _res, next) => {
    if (source.kind === 'header' && !isTrustedProxy(req.socket.remoteAddress ?? '')) delete req.headers[source.name];
    else getRequestContext(req).clientCertificate = { source };
    next();
  };

/**
 * Returns the certificate that the client presented; undefined if the client presented no certificate or the server accepts no
 * certificates.
 */
export function getPresentedCertificate(req: IncomingMessage): PresentedCertificate | undefined {
  const { clientCertificate } = getRequestContext(req);
  if (!clientCertificate) return undefined;
  clientCertificate.presented ??= { value: readCertificate(req, clientCertificate.source) };
  return clientCertificate.presented.value;
}

/** Returns the SHA-256 thumbprint of the presented certificate (RFC 8705 section 3.1); undefined if there is no acceptable certificate. */
export function getCertificateThumbprint(req: Request): string | undefined {
  const certificate = getPresentedCertificate(req)?.certificate;
  return certificate && sha256(certificate.raw, 'base64url');
}

function readCertificate(req: IncomingMessage, source: ClientCertificateSource): PresentedCertificate | undefined {
  try {
    const certificate = source.kind === 'tls' ? readFromConnection(req) : parseHeader(req.headers[source.name]);
    return certificate && rejectOutsideValidity(certificate, new Date());
  } catch {
    return { rejection: 'the proxy header does not contain exactly one certificate in a supported format' };
  }
}

const readFromConnection = ({ socket }: IncomingMessage): X509Certificate | undefined =>
  socket instanceof TLSSocket ? socket.getPeerX509Certificate() : undefined;

/** Header value as defined in RFC 9440 section 2.1: the DER encoding as a structured-field byte sequence. */
const byteSequencePattern = /^:([A-Za-z0-9+/]+={0,2}):$/;
/** The value of nginx's variable `$ssl_client_escaped_cert`: a PEM block with percent-encoded characters. */
const escapedPemPattern = /^-----BEGIN%20CERTIFICATE-----(?:[A-Za-z0-9]|%(?:0A|0D|2B|2F|3D))+-----END%20CERTIFICATE-----(?:%0D)?(?:%0A)?$/;

/**
 * Parses the certificate in a proxy's header. Node joins repeated headers with a comma, so the joined value matches neither of the two
 * formats. An empty header or an empty byte sequence means that there is no certificate.
 */
function parseHeader(value: string | readonly string[] | undefined): X509Certificate | undefined {
  if (value === undefined || value === '' || value === '::') return undefined;
  const text = String(value);
  const der = byteSequencePattern.exec(text)?.[1];
  if (der !== undefined) return new X509Certificate(Buffer.from(der, 'base64'));
  if (!escapedPemPattern.test(text)) throw new TypeError('the format is not supported');
  return new X509Certificate(decodeURIComponent(text));
}

function rejectOutsideValidity(certificate: X509Certificate, now: Date): PresentedCertificate {
  if (certificate.validToDate < now) return { rejection: 'the certificate has expired' };
  if (certificate.validFromDate > now) return { rejection: 'the certificate is not valid yet' };
  return { certificate };
}
