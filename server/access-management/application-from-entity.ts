import type { Application as ApplicationResponse } from '@mandate/contract';
import { filterApiScopes } from '../oauth/protocol/oauth-scopes.ts';
import { supportedGrantTypes, type Application } from '../applications/application.entity.ts';
import { getClientAuthenticationMethod } from '../applications/client-authentication-method-and-keys.ts';
import { getIdTokenSigningAlgorithm } from '../applications/id-token-signing-algorithm.ts';

/** Returns an application's API representation. */
export const applicationFromEntity = (application: Application): ApplicationResponse => ({
  id: application.id,
  client_id: application.clientId,
  name: application.name,
  type: application.type,
  logo_uri: application.logoUri ?? null,
  policy_uri: application.policyUri ?? null,
  tos_uri: application.tosUri ?? null,
  redirect_uris: [...application.redirectUris],
  post_logout_redirect_uris: [...application.postLogoutRedirectUris],
  backchannel_logout_uri: application.backchannelLogoutUri ?? null,
  scopes: filterApiScopes(application.scopes),
  preapproved_scopes: [...application.preapprovedScopes],
  grant_types: supportedGrantTypes.filter((name) => application.grantTypes.includes(name)),
  status: application.status,
  first_party: application.firstParty,
  registration: application.registration,
  rate_limit_per_minute: application.rateLimitPerMinute ?? null,
  quota_per_month: application.quotaPerMonth ?? null,
  refresh_grace_seconds: application.refreshGraceSeconds ?? null,
  order_limits_ceiling: application.orderLimitsCeiling ?? null,
  order_products_ceiling: application.orderCategoriesCeiling ? { categories: [...application.orderCategoriesCeiling] } : null,
  token_endpoint_auth_method: getClientAuthenticationMethod(application),
  jwks: application.jwks ? { keys: [...application.jwks.keys] } : null,
  jwks_uri: application.jwksUri ?? null,
  tls_client_auth_subject: application.tlsClientAuthSubject ?? null,
  tls_client_certificate_bound_access_tokens: application.tlsClientCertificateBoundAccessTokens,
  require_signed_request_object: application.requireSignedRequestObject,
  security_profile: application.securityProfile ?? null,
  id_token_signed_response_alg: getIdTokenSigningAlgorithm(application),
  allow_nonce_instead_of_pkce: application.allowNonceInsteadOfPkce,
  allow_neither_pkce_nor_nonce: application.allowNeitherPkceNorNonce,
  version: application.version,
  created_at: new Date(application.createdAt).toISOString(),
  updated_at: new Date(application.updatedAt).toISOString(),
});
