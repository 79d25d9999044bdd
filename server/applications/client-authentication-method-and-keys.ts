import { certificateAuthenticationMethods, type clientAuthenticationMethods, type PublicJsonWebKey } from '@mandate/contract';
import { findUrlRejectionReason } from '../outgoing-http/check-public-url.ts';
import { findCertificateSubjectError, type CertificateSubject } from './certificate-subject.ts';
import { parseJwkWithCertificate } from './parse-jwk-with-certificate.ts';
import { parsePublicJwk, UnusableJwkError } from './parse-public-jwk.ts';
import { translatable, type FieldErrorDetail } from '../http/problem-details/translatable-text.ts';

export type ClientAuthenticationMethod = (typeof clientAuthenticationMethods)[number];
/** A method that authenticates an application with the client certificate of its TLS connection (RFC 8705). */
export type CertificateAuthenticationMethod = (typeof certificateAuthenticationMethods)[number];

export const isCertificateAuthenticationMethod = (method: string): method is CertificateAuthenticationMethod =>
  certificateAuthenticationMethods.some((name) => name === method);

/** A JSON Web Key Set that has not been validated. */
export type UncheckedJwks = { readonly keys: readonly object[] };
export type PublicJwks = { readonly keys: readonly PublicJsonWebKey[] };

type Keys<Jwks> = { readonly jwks?: Jwks | null | undefined; readonly jwksUri?: string | null | undefined };
type ApplicationType = { readonly type: 'public' | 'confidential' };

/** Stored fields that determine how an application authenticates. */
type StoredAuthentication = ApplicationType &
  Keys<unknown> & { readonly certificateAuthMethod?: CertificateAuthenticationMethod | null | undefined };

/** Returns how an application authenticates. An application that has keys but no certificate-based method authenticates with its keys. */
export const getClientAuthenticationMethod = (application: StoredAuthentication): ClientAuthenticationMethod => {
  const { type, jwks, jwksUri, certificateAuthMethod } = application;
  if (type === 'public') return 'none';
  return certificateAuthMethod ?? (jwks == null && jwksUri == null ? 'client_secret_basic' : 'private_key_jwt');
};

export type ClientAuthenticationInput = ApplicationType &
  Keys<UncheckedJwks> & {
    /** Requested method (default: no authentication for a public application, a secret for a confidential application). */
    readonly tokenEndpointAuthMethod?: ClientAuthenticationMethod | undefined;
    readonly tlsClientAuthSubject?: CertificateSubject | null | undefined;
  };

/** Returns the requested authentication method or, if there is none, the default. */
export const resolveRequestedAuthenticationMethod = ({
  type,
  tokenEndpointAuthMethod,
}: ClientAuthenticationInput): ClientAuthenticationMethod => tokenEndpointAuthMethod ?? getClientAuthenticationMethod({ type });

type ClientAuthenticationError = {
  readonly field: 'token_endpoint_auth_method' | 'jwks' | 'jwks_uri' | 'tls_client_auth_subject';
  readonly detail: FieldErrorDetail;
};

/** Yields an error for each violation of the rules for an application's authentication method and keys. */
export function* findClientAuthenticationErrors(input: ClientAuthenticationInput): Generator<ClientAuthenticationError> {
  const { type, jwks, jwksUri } = input;
  const method = resolveRequestedAuthenticationMethod(input);
  if ((method === 'none') !== (type === 'public'))
    yield {
      field: 'token_endpoint_auth_method',
      detail: type === 'public' ? 'must be `none` for a public application' : 'must not be `none` for a confidential application',
    };
  yield* findKeySourceErrors(method, jwks != null, jwksUri != null);
  yield* findSubjectErrors(method, input.tlsClientAuthSubject ?? undefined);
  if (jwks != null) yield* findJwksErrors(jwks, method);
  const reason = jwksUri == null ? undefined : findUrlRejectionReason(jwksUri, false, 'https://example.com/jwks.json');
  if (reason !== undefined) yield { field: 'jwks_uri', detail: reason };
}

function* findKeySourceErrors(
  method: ClientAuthenticationMethod,
  hasJwks: boolean,
  hasJwksUri: boolean,
): Generator<ClientAuthenticationError> {
  const given = ([hasJwks && 'jwks', hasJwksUri && 'jwks_uri'] as const).filter((field) => field !== false);
  if (method === 'none' || method === 'client_secret_basic') {
    const allowed = 'requires token_endpoint_auth_method to be private_key_jwt, tls_client_auth or self_signed_tls_client_auth';
    for (const field of given) yield { field, detail: allowed };
  } else if (method === 'self_signed_tls_client_auth') {
    if (!hasJwks)
      yield { field: 'jwks', detail: 'must be set for self_signed_tls_client_auth, and must contain a key with a certificate in x5c' };
    if (hasJwksUri) yield { field: 'jwks_uri', detail: 'must not be given for self_signed_tls_client_auth: add the certificates to jwks' };
  } else if (method === 'private_key_jwt' && given.length === 0) {
    yield { field: 'jwks', detail: 'must be set for private_key_jwt, unless jwks_uri is given' };
  } else if (given.length === 2) {
    yield { field: 'jwks_uri', detail: 'must not be combined with jwks' };
  }
}

function* findSubjectErrors(
  method: ClientAuthenticationMethod,
  subject: CertificateSubject | undefined,
): Generator<ClientAuthenticationError> {
  const field = 'tls_client_auth_subject';
  if (method === 'tls_client_auth' && !subject) yield { field, detail: 'must be set for tls_client_auth' };
  if (method !== 'tls_client_auth' && subject) yield { field, detail: 'requires token_endpoint_auth_method to be tls_client_auth' };
  const error = subject && findCertificateSubjectError(subject);
  if (error !== undefined) yield { field, detail: error };
}

function* findJwksErrors({ keys }: UncheckedJwks, method: ClientAuthenticationMethod): Generator<ClientAuthenticationError> {
  for (const [position, key] of keys.entries()) {
    try {
      parsePublicJwks({ keys: [key] }, method);
    } catch (error) {
      if (!(error instanceof UnusableJwkError)) throw error;
      yield {
        field: 'jwks',
        detail: translatable`contains an unusable key: the key at position ${{ position: position + 1 }} ${{ reason: error.reason }}`,
      };
    }
  }
  if (method === 'self_signed_tls_client_auth' && !keys.some((key) => 'x5c' in key))
    yield { field: 'jwks', detail: 'must contain a key with a certificate in x5c for self_signed_tls_client_auth' };
}

/**
 * Returns a valid key set, reduced to the members that the server uses. Certificates are kept only if the application authenticates with
 * them.
 */
export const parsePublicJwks = ({ keys }: UncheckedJwks, method: ClientAuthenticationMethod): PublicJwks => ({
  keys: keys.map(method === 'self_signed_tls_client_auth' ? parseJwkWithCertificate : parsePublicJwk),
});
