import type { X509Certificate } from 'node:crypto';
import { certificateSubjectTypes } from '@mandate/contract';
import type { Configuration, KoaContextWithOIDC } from 'oidc-provider';
import { certificateHasSubjectOrAltName, type CertificateSubject } from '../../applications/certificate-subject.ts';
import { getClientAuthenticationMethod } from '../../applications/client-authentication-method-and-keys.ts';
import {
  findClientCertificateSupportErrors,
  type ClientCertificateSupport,
} from '../../applications/find-client-certificate-support-errors.ts';
import { formatInEnglish } from '../../http/problem-details/translate-detail.ts';
import { getPresentedCertificate, type ClientCertificateOptions } from '../../http/request/client-certificate.ts';
import { oauthEndpointPaths } from '../protocol/endpoint-paths-and-audiences.ts';
import type { PrefetchedClient } from '../storage/prefetched-record-and-client-types.ts';

type MutualTls = NonNullable<NonNullable<Configuration['features']>['mTLS']>;

/** The certificate purpose "TLS client authentication" (RFC 5280 section 4.2.1.12). */
const clientAuthenticationPurpose = '1.3.6.1.5.5.7.3.2';

/** Returns which client certificates the server accepts with these options. */
export const getClientCertificateSupport = (options: ClientCertificateOptions | undefined): ClientCertificateSupport => ({
  accepted: options !== undefined,
  hasAuthority: (options?.authorities.length ?? 0) > 0,
});

const getCertificate = ({ req }: KoaContextWithOIDC): X509Certificate | undefined => getPresentedCertificate(req)?.certificate;

/**
 * Configures mutual TLS (RFC 8705). `getCertificate` is always configured, because tokens that are bound to a certificate can still exist
 * when the server no longer accepts certificates.
 */
export function configureMutualTls(options: ClientCertificateOptions | undefined): MutualTls {
  if (options === undefined) return { enabled: false, getCertificate };
  const accepted = { enabled: true, getCertificate, certificateBoundAccessTokens: true, selfSignedTlsClientAuth: true } as const;
  if (options.authorities.length === 0) return accepted;
  return {
    ...accepted,
    tlsClientAuth: true,
    certificateAuthorized: (ctx) => {
      const certificate = getCertificate(ctx);
      return certificate !== undefined && isIssuedByAuthority(certificate, options.authorities, new Date());
    },
    certificateSubjectMatches: (ctx, property, value) => {
      const [certificate, type] = [getCertificate(ctx), certificateSubjectTypes.find((name) => property === `tls_client_auth_${name}`)];
      return certificate !== undefined && type !== undefined && certificateHasSubjectOrAltName(certificate, { type, value });
    },
  };
}

/** Endpoints at which clients present their certificate. */
const endpointsWithCertificates = [
  'token',
  'revocation',
  'introspection',
  'userinfo',
  'pushed_authorization_request',
  'device_authorization',
] as const;

/**
 * Returns `mtls_endpoint_aliases` (RFC 8705 section 5), or an empty object if clients with certificates use the same URLs as other clients.
 */
export const getMutualTlsEndpointAliases = (options: ClientCertificateOptions | undefined) => {
  const url = options?.url;
  if (url === undefined) return {};
  return {
    mtls_endpoint_aliases: Object.fromEntries(
      endpointsWithCertificates.map((name) => [`${name}_endpoint`, `${url}${oauthEndpointPaths[name]}`]),
    ),
  };
};

/**
 * Returns whether a certificate can authenticate a client. A certificate without the extended key usage extension can be used for all
 * purposes. For such a certificate, Node returns undefined instead of a list.
 */
const permitsClientAuthentication = (purposes: readonly string[] | undefined): boolean =>
  purposes?.includes(clientAuthenticationPurpose) ?? true;

/**
 * Returns whether the certificate is valid for TLS clients and was issued directly by one of the authorities. The proxy that terminates TLS
 * may accept any certificate, so the server does not rely on the proxy's verification.
 */
const isIssuedByAuthority = (certificate: X509Certificate, authorities: readonly X509Certificate[], now: Date): boolean =>
  permitsClientAuthentication(certificate.keyUsage) &&
  authorities.some(
    (authority) =>
      authority.validFromDate <= now &&
      authority.validToDate >= now &&
      certificate.checkIssued(authority) &&
      certificate.verify(authority.publicKey),
  );

/** Returns the metadata that makes oidc-provider authenticate a client by its certificate and bind its tokens to the certificate. */
export const mutualTlsMetadataFromClient = (client: PrefetchedClient): Record<string, string | boolean> => ({
  ...(client.tlsClientAuthSubject && toSubjectMetadata(client.tlsClientAuthSubject)),
  ...(client.tlsClientCertificateBoundAccessTokens && { tls_client_certificate_bound_access_tokens: true }),
});

const toSubjectMetadata = ({ type, value }: CertificateSubject): Record<string, string> => ({ [`tls_client_auth_${type}`]: value });

/** Returns an error message if a client's settings require client certificates that the server does not accept. */
export function findUnsupportedCertificateSettingError(client: PrefetchedClient, support: ClientCertificateSupport): string | undefined {
  const { tlsClientCertificateBoundAccessTokens } = client;
  const settings = { tokenEndpointAuthMethod: getClientAuthenticationMethod(client), tlsClientCertificateBoundAccessTokens };
  const [error] = findClientCertificateSupportErrors(settings, support);
  return error && `${error.field} ${formatInEnglish(error.detail)}`;
}
