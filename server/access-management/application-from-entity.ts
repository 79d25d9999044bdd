import type { Application as ApplicationResponse } from '@mandate/contract';
import { filterApiScopes } from '../oauth/protocol/oauth-scopes.ts';
import { supportedGrantTypes, type Application } from '../applications/application.entity.ts';

/** Returns an application's API representation. */
export const applicationFromEntity = (application: Application): ApplicationResponse => ({
  id: application.id,
  client_id: application.clientId,
  name: application.name,
  type: application.type,
  logo_uri: application.logoUri ?? null,
  redirect_uris: [...application.redirectUris],
  post_logout_redirect_uris: [...application.postLogoutRedirectUris],
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
  allow_nonce_instead_of_pkce: application.allowNonceInsteadOfPkce,
  version: application.version,
  created_at: new Date(application.createdAt).toISOString(),
  updated_at: new Date(application.updatedAt).toISOString(),
});
