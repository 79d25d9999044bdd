import { translatable, type FieldErrorDetail } from '../http/problem-details/translatable-text.ts';
import type { ClientAuthenticationMethod } from './client-authentication-method-and-keys.ts';

/** Describes which client certificates the server accepts. */
export type ClientCertificateSupport = {
  /** Whether the server receives client certificates. */
  readonly accepted: boolean;
  /** Whether the server trusts an authority that issues certificates for `tls_client_auth`. */
  readonly hasAuthority: boolean;
};

type CertificateSettings = {
  readonly tokenEndpointAuthMethod?: ClientAuthenticationMethod | undefined;
  readonly tlsClientCertificateBoundAccessTokens?: boolean | undefined;
};

type ClientCertificateSupportError = {
  readonly field: 'token_endpoint_auth_method' | 'tls_client_certificate_bound_access_tokens';
  readonly detail: FieldErrorDetail;
};

const acceptsNone = (value: string): FieldErrorDetail =>
  translatable`cannot be ${{ value }}, because the server accepts no client certificates; the operator must set MANDATE_CLIENT_CERTIFICATES`;

/** Yields an error for each application setting that requires client certificates that the server does not accept. */
export function* findClientCertificateSupportErrors(
  { tokenEndpointAuthMethod: method, tlsClientCertificateBoundAccessTokens: isBound = false }: CertificateSettings,
  { accepted, hasAuthority }: ClientCertificateSupport,
): Generator<ClientCertificateSupportError> {
  const field = 'token_endpoint_auth_method';
  if (method === 'tls_client_auth' || method === 'self_signed_tls_client_auth') {
    if (!accepted) yield { field, detail: acceptsNone(method) };
    else if (method === 'tls_client_auth' && !hasAuthority)
      yield {
        field,
        detail: 'cannot be tls_client_auth, because no certificate authority is configured; the operator must set MANDATE_CLIENT_CA',
      };
  }
  if (isBound && !accepted) yield { field: 'tls_client_certificate_bound_access_tokens', detail: acceptsNone('true') };
}
