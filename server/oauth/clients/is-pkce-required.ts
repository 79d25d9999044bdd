import { errors, type Configuration } from 'oidc-provider';
import { getOauthRequestContext } from '../protocol/oauth-request-context.ts';

type RequiresPkce = NonNullable<NonNullable<Configuration['pkce']>['required']>;

/**
 * Returns whether an authorization request without `code_challenge` is rejected. An administrator can allow a confidential application to
 * send a `nonce` instead (RFC 9700 section 2.1.1). The `nonce` in the ID token then shows the application whether the code was issued for
 * its request. oidc-provider rejects a `nonce` without the `openid` scope, because no ID token would contain it. An administrator can also
 * allow a confidential application to omit both parameters, because some OpenID Connect clients cannot be changed.
 */
export const isPkceRequired: RequiresPkce = ({ req, oidc: { params } }, { clientId }) => {
  const { client: application } = getOauthRequestContext(req);
  if (application?.clientId !== clientId || application.type !== 'confidential') return true;
  if (application.allowNeitherPkceNorNonce) return false;
  if (!application.allowNonceInsteadOfPkce) return true;
  const nonce = params?.['nonce'];
  if (typeof nonce !== 'string' || nonce === '')
    throw new errors.InvalidRequest('the request needs code_challenge (PKCE), or nonce together with the openid scope');
  return false;
};
