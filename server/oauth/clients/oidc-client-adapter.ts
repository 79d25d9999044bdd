import { orderAuthorizationDetailsType, type PublicJsonWebKey } from '@mandate/contract';
import { errors, Provider, type Adapter, type AdapterPayload } from 'oidc-provider';
import { deviceCodeGrantType } from '../../applications/application.entity.ts';
import {
  getClientAuthenticationMethod,
  type ClientAuthenticationMethod,
} from '../../applications/client-authentication-method-and-keys.ts';
import { getIdTokenSigningAlgorithm } from '../../applications/id-token-signing-algorithm.ts';
import { clientSecretMatchesHash } from '../../applications/client-secret.ts';
import { apiReferencePageClientId } from '../../applications/ensure-api-reference-page-client.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import type { ClientCertificateSupport } from '../../applications/find-client-certificate-support-errors.ts';
import { findUnsupportedCertificateSettingError, mutualTlsMetadataFromClient } from './client-certificate-authentication.ts';
import { isUrlClientId } from './validate-client-id-url.ts';
import { findActiveApplication } from './find-active-application.sql.ts';
import { isRedirectUriOrigin } from '../protocol/is-redirect-uri-origin.ts';
import { storeApplicationFromClientMetadata } from './dynamic-client-registration.ts';
import { filterApiScopes, openIdConnectScopes } from '../protocol/oauth-scopes.ts';
import { getOauthRequestContext, type OauthRequestContext } from '../protocol/oauth-request-context.ts';
import type { PrefetchedClient } from '../storage/prefetched-record-and-client-types.ts';

/** Prefetches a request's client outside the transaction, so that the lookup can be batched with the lookups of other requests. */
export async function prefetchClient(em: EntityManager, req: object, clientId: string): Promise<void> {
  const client = clientId.includes('\0') ? undefined : await findActiveApplication(em, [clientId]);
  if (client) getOauthRequestContext(req).client = client;
}

/**
 * Returns the authenticated client's refresh grace period in seconds, or undefined if none is set for the client. For FAPI 2.0 clients,
 * returns 0, because FAPI 2.0 permits no grace period.
 */
export function getClientRefreshGraceSeconds(
  { client }: Pick<OauthRequestContext, 'client'>,
  clientId: string | undefined,
): number | undefined {
  if (client?.clientId !== clientId) return undefined;
  return client?.securityProfile === 'fapi2' ? 0 : (client?.refreshGraceSeconds ?? undefined);
}

/** Creates a function that returns whether an active application has a redirect URI with the given origin. */
export const createRedirectOriginCheck =
  (em: EntityManager) =>
  async (clientId: string, origin: string): Promise<boolean> =>
    isRedirectUriOrigin((await findActiveApplication(em, [clientId]))?.redirectUris ?? [], origin);

/**
 * Creates the client adapter for oidc-provider. The adapter reads `applications` on every request, so that changes take effect immediately.
 */
export const createClientAdapter = (em: EntityManager, development: boolean, certificates: ClientCertificateSupport): Adapter => ({
  async find(clientId) {
    if (clientId.includes('\0')) return undefined;
    rejectFailedDocument(clientId);
    const context = Provider.ctx && getOauthRequestContext(Provider.ctx.req);
    const client = context?.client?.clientId === clientId ? context.client : await findActiveApplication(em, [clientId]);
    if (context && client) context.client = client;
    const unsupported = client && findUnsupportedCertificateSettingError(client, certificates);
    if (unsupported !== undefined) throw new errors.InvalidClient(unsupported);
    const publishedKeys = context?.clientKeys?.clientId === clientId ? context.clientKeys.keys : [];
    return client ? toClientMetadata(client, new Date(), publishedKeys) : undefined;
  },
  upsert: (clientId, metadata) => storeApplicationFromClientMetadata(em, clientId, metadata, development),
  ...unsupportedMethods(),
});

function rejectFailedDocument(clientId: string): void {
  const failure = Provider.ctx && isUrlClientId(clientId) ? getOauthRequestContext(Provider.ctx.req).metadataDocumentFailure : undefined;
  if (failure !== undefined) throw new errors.InvalidClient(`client ID metadata document: ${failure}`);
}

/**
 * @param publishedKeys keys from the client's `jwks_uri`, which are loaded only if the request contains a client assertion or a request
 * object
 */
function toClientMetadata(application: PrefetchedClient, now: Date, publishedKeys: readonly PublicJsonWebKey[]): AdapterPayload {
  const authenticationMethod = getClientAuthenticationMethod(application);
  const algorithm = getIdTokenSigningAlgorithm(application);
  const usesAuthorizationCode = application.grantTypes.includes('authorization_code');
  const actsForUsers = usesAuthorizationCode || application.grantTypes.includes(deviceCodeGrantType);
  return {
    client_id: application.clientId,
    client_name: application.name,
    application_type: isNative(application) ? 'native' : 'web',
    token_endpoint_auth_method: authenticationMethod,
    ...(authenticationMethod === 'client_secret_basic' && { client_secret: validSecretHashes(application, now).join(' ') || noSecret }),
    ...(hasKeys(authenticationMethod, application) && { jwks: { keys: [...(application.jwks?.keys ?? publishedKeys)] } }),
    ...mutualTlsMetadataFromClient(application),
    ...(application.securityProfile === 'fapi2' && getFapi2Metadata(application)),
    id_token_signed_response_alg: algorithm,
    authorization_signed_response_alg: algorithm,
    introspection_signed_response_alg: algorithm,
    require_signed_request_object: application.requireSignedRequestObject,
    redirect_uris: [...application.redirectUris],
    post_logout_redirect_uris: [...application.postLogoutRedirectUris],
    // The ID tokens of every application with a logout URL contain `sid`, even if the application does not require this claim.
    ...(application.backchannelLogoutUri != null && {
      backchannel_logout_uri: application.backchannelLogoutUri,
      backchannel_logout_session_required: true,
    }),
    response_types: usesAuthorizationCode ? ['code'] : [],
    grant_types: [...application.grantTypes],
    ...(actsForUsers && { authorization_details_types: [orderAuthorizationDetailsType] }),
    // The scope is never empty, because oidc-provider treats an empty scope as all scopes.
    // The scope contains only known scopes, because oidc-provider rejects clients with unknown scopes.
    scope: [...(actsForUsers ? openIdConnectScopes : ['openid']), ...filterApiScopes(application.scopes)].join(' '),
  };
}

/**
 * Native clients may use any port on the loopback interface (RFC 8252 section 7.3). The API reference page is not treated as a native
 * client, because it must use its exact redirect URI.
 */
const isNative = ({ clientId, redirectUris }: PrefetchedClient): boolean =>
  clientId !== apiReferencePageClientId && redirectUris.some((uri) => !uri.startsWith('https:'));

/** Returns whether the metadata must contain keys. oidc-provider requires keys for `private_key_jwt`, even if no keys could be loaded. */
const hasKeys = (method: ClientAuthenticationMethod, { jwks, jwksUri }: PrefetchedClient): boolean =>
  method === 'private_key_jwt' || jwks != null || jwksUri != null;

/**
 * Metadata that makes oidc-provider enforce the FAPI 2.0 Security Profile. Tokens are bound to a certificate or to the key of a DPoP proof.
 */
const getFapi2Metadata = ({ tlsClientCertificateBoundAccessTokens: isBoundToCertificate }: PrefetchedClient) => ({
  require_pushed_authorization_requests: true,
  dpop_bound_access_tokens: !isBoundToCertificate,
});

/** Returns the FAPI profile of a request's client, in oidc-provider's format. */
export const getFapiProfile = ({ req }: { readonly req: object }, client: { readonly clientId: string } | undefined): '2.0' | undefined => {
  const found = getOauthRequestContext(req).client;
  return client !== undefined && found?.clientId === client.clientId && found.securityProfile === 'fapi2' ? '2.0' : undefined;
};

/**
 * Placeholder secret for an application that has no secret yet, because oidc-provider requires a secret. No secret that a client presents
 * can match this placeholder.
 */
const noSecret = 'none';

const validSecretHashes = ({ secretHashes, previousSecretHash, previousSecretUntil }: PrefetchedClient, now: Date): string[] => [
  ...secretHashes,
  ...(previousSecretHash != null && previousSecretUntil != null && new Date(previousSecretUntil) > now ? [previousSecretHash] : []),
];

/** Replaces oidc-provider's client secret comparison, because only secret hashes are stored. */
export function patchClientSecretComparisonToUseHashes(provider: Provider): void {
  provider.Client.prototype.compareClientSecret = matchesStoredHash;
}

function matchesStoredHash(this: { clientSecret?: string | undefined }, secret: string): boolean {
  return (this.clientSecret ?? '').split(' ').some((hash) => clientSecretMatchesHash(hash, secret));
}

const throwUnsupported = (): never => {
  throw new Error('applications can only be changed through the API');
};

function unsupportedMethods(): Omit<Adapter, 'find' | 'upsert'> {
  return {
    findByUserCode: throwUnsupported,
    findByUid: throwUnsupported,
    consume: throwUnsupported,
    destroy: throwUnsupported,
    revokeByGrantId: throwUnsupported,
  };
}
