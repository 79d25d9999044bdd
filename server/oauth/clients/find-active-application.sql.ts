import { prepareBatchedLookupStatement } from '../../database/queries/batched-statement.ts';
import type { PrefetchedClient } from '../storage/prefetched-record-and-client-types.ts';

// Written in SQL because it runs for every authorization and token request, and SQL is measurably faster (benchmark cases `refresh`,
// `client-credentials` and `sign-in`).
export const findActiveApplication = prepareBatchedLookupStatement<PrefetchedClient>(
  'find_active_application',
  ['text'],
  `select client_id as "clientId", name, type, secret_hashes as "secretHashes", previous_secret_hash as "previousSecretHash",
     previous_secret_until as "previousSecretUntil", jwks, jwks_uri as "jwksUri", security_profile as "securityProfile",
     certificate_auth_method as "certificateAuthMethod", tls_client_auth_subject as "tlsClientAuthSubject",
     tls_client_certificate_bound_access_tokens as "tlsClientCertificateBoundAccessTokens",
     require_signed_request_object as "requireSignedRequestObject", id_token_signed_response_alg as "idTokenSignedResponseAlg",
     redirect_uris as "redirectUris", post_logout_redirect_uris as "postLogoutRedirectUris", backchannel_logout_uri as "backchannelLogoutUri",
     grant_types as "grantTypes", scopes, refresh_grace_seconds as "refreshGraceSeconds",
     allow_nonce_instead_of_pkce as "allowNonceInsteadOfPkce", allow_neither_pkce_nor_nonce as "allowNeitherPkceNorNonce"
     from applications where client_id = $1 and status = 'active'`,
);
