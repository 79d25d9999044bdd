import type { KeyObject } from 'node:crypto';
import { idTokenSigningAlgorithms, scopeNames } from '@mandate/contract';
import type { JWK } from 'jose';
import { errors, interactionPolicy, Provider, type AdapterFactory, type Configuration, type KoaContextWithOIDC } from 'oidc-provider';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { createOidcAccountLookup } from '../accounts/accounts-and-passwords.ts';
import { oneFactorAcrValue, twoFactorAcrValue } from '../protocol/acr-and-amr.ts';
import { clientAssertionAlgorithms } from '../../applications/parse-public-jwk.ts';
import type { ClientCertificateSupport } from '../../applications/find-client-certificate-support-errors.ts';
import type { ClientCertificateOptions } from '../../http/request/client-certificate.ts';
import { assertClientAssertionClaims } from '../clients/validate-client-assertion-and-load-keys.ts';
import {
  configureMutualTls,
  getMutualTlsEndpointAliases,
  getClientCertificateSupport,
} from '../clients/client-certificate-authentication.ts';
import { createClientAdapter, getFapiProfile, patchClientSecretComparisonToUseHashes } from '../clients/oidc-client-adapter.ts';
import { requiresConsentAtEverySignIn, createFindOrCreateGrantHook } from '../grants/consents-and-grants.ts';
import { allowOwnTokenIntrospectionAndAddDetails, configureRichAuthorizationRequests } from '../grants/rich-authorization-requests.ts';
import { patchProviderToQueueLogoutTokens } from '../back-channel-logout/delete-sessions-and-queue-logout-tokens.ts';
import { assertClaimsParameter, claimsByScope } from '../protocol/claims-parameter.ts';
import { cookieNamesForIssuer } from '../protocol/cookie-names.ts';
import { dpopAlgorithms } from '../tokens/verify-dpop-proof.ts';
import {
  apiAudienceFromIssuer,
  listAccessTokenAudiences,
  oauthEndpointPaths,
  basePathFromIssuer,
} from '../protocol/endpoint-paths-and-audiences.ts';
import { getAuthTimeAndAcrForAccessToken, addOpenIdScopesAndStoreTokenRecord } from '../tokens/customize-jwt-access-tokens.ts';
import { exchangeOrReplayRefreshToken, shouldRotateOrThrowOnReplay, type RefreshGrantOptions } from '../refresh/refresh-token-grant.ts';
import { isRedirectUriOrigin } from '../protocol/is-redirect-uri-origin.ts';
import type { OidcPageHandlers } from '../pages/views/oidc-provider/oidc-provider-pages.ts';
import { tokenAndSessionLifetimesInSeconds } from '../protocol/token-and-session-lifetimes.ts';
import { filterApiScopes, openIdConnectScopes } from '../protocol/oauth-scopes.ts';
import { toOidcProviderSigningKey } from '../signing-keys/oidc-provider-signing-key.ts';
import { replaceRequestedAcrChecks } from './replace-requested-acr-checks.ts';
import { dynamicClientRegistrationConfiguration } from '../clients/dynamic-client-registration.ts';
import {
  markRequestObjectUsedOrRejectReuse,
  readRequestedScope,
  requestObjectAlgorithms,
  requestObjectConfiguration,
} from '../clients/signed-authorization-request-object.ts';
import { isPkceRequired } from '../clients/is-pkce-required.ts';

type ProviderOptions = {
  readonly em: EntityManager;
  /** Whether the logout URLs of applications can use HTTP and point to this machine. */
  readonly development: boolean;
  readonly issuer: string;
  readonly store: AdapterFactory;
  /** The first key for each algorithm is used for signing; all keys are published. */
  readonly keys: readonly JWK[];
  readonly referenceKey: KeyObject;
  /** The response that a repeated refresh returns is encrypted with this key and the presented refresh token. */
  readonly refreshResponseKey: KeyObject;
  readonly refreshGraceSeconds: number;
  readonly cookieKey: string;
  /** The nonces that DPoP proofs can contain are derived from this secret (32 bytes). */
  readonly dpopNonceSecret: Buffer;
  readonly pages: OidcPageHandlers;
  readonly clientCertificates: ClientCertificateOptions | undefined;
  /** Tags of the page languages, for `ui_locales_supported`. */
  readonly uiLocales: readonly string[];
};

export function createOidcProvider(parts: ProviderOptions): Provider {
  const { em, issuer, store, cookieKey, pages } = parts;
  const cookies = cookieNamesForIssuer(issuer);
  const secure = issuer.startsWith('https:');
  const { refreshResponseKey: key, refreshGraceSeconds: graceSeconds } = parts;
  const certificates = getClientCertificateSupport(parts.clientCertificates);
  const ProviderWithRefreshGrant = providerWithRefreshGrant({ store, key, graceSeconds });
  const provider = new ProviderWithRefreshGrant(issuer, {
    adapter: (model) => (model === 'Client' ? createClientAdapter(em, parts.development, certificates) : store(model)),
    jwks: { keys: parts.keys.map(toOidcProviderSigningKey) },
    routes: { ...oauthEndpointPaths },
    cookies: {
      keys: [cookieKey],
      // oidc-provider sets the `interaction` and `resume` cookies to the same value for different paths, so both cookies can have the same
      // name
      names: { session: cookies.session, interaction: cookies.interaction, resume: cookies.interaction },
      long: { httpOnly: true, sameSite: 'lax', secure, signed: true },
      short: { httpOnly: true, sameSite: 'lax', secure, signed: true },
    },
    findAccount: createOidcAccountLookup(em),
    loadExistingGrant: createFindOrCreateGrantHook(em, listAccessTokenAudiences(issuer)),
    interactions: {
      policy: createInteractionPolicy(em),
      url: (_ctx, interaction) =>
        `${basePathFromIssuer(issuer)}/${interaction.prompt.name === 'consent' ? 'consent' : 'sign-in'}/${interaction.uid}`,
    },
    fetch: rejectOutgoingRequest,
    renderError: pages.renderError,
    extraTokenClaims: getAuthTimeAndAcrForAccessToken,
    formats: { customizers: { jwt: addOpenIdScopesAndStoreTokenRecord(store, parts.referenceKey) } },
    ...protocolConfiguration,
    clientAuthMethods: listClientAuthenticationMethods(certificates),
    // oidc-provider calls this function after all its checks of an authorization request, even if the request contains no `offline_access`
    // parameter
    extraParams: {
      offline_access: async (ctx) => {
        keepOfflineAccess(ctx);
        await markRequestObjectUsedOrRejectReuse(em, ctx);
      },
    },
    discovery: {
      client_id_metadata_document_supported: true,
      ui_locales_supported: [...parts.uiLocales],
      ...getMutualTlsEndpointAliases(parts.clientCertificates),
    },
    features: { ...features(em, issuer, pages, parts.dpopNonceSecret), mTLS: configureMutualTls(parts.clientCertificates) },
  });
  patchClientSecretComparisonToUseHashes(provider);
  patchProviderToQueueLogoutTokens(provider, em);
  return provider;
}

/**
 * Replaces oidc-provider's refresh token handler with `exchangeOrReplayRefreshToken`, which calls the original handler. oidc-provider
 * registers its grant handlers in its constructor, so only an override can intercept the registration.
 */
const providerWithRefreshGrant = (options: RefreshGrantOptions): typeof Provider =>
  class extends Provider {
    override registerGrantType<Params extends object>(name: string, handle: GrantHandler<Params>, ...more: RemainingParameters): void {
      const refresh: GrantHandler<Params> = (ctx) => exchangeOrReplayRefreshToken(options, ctx, async () => handle(ctx));
      super.registerGrantType(name, name === 'refresh_token' ? refresh : handle, ...more);
    }
  };
type GrantHandler<Params extends object> = Parameters<typeof Provider.prototype.registerGrantType<Params>>[1];
type RemainingParameters = Parameters<Provider['registerGrantType']> extends [unknown, unknown, ...infer Rest] ? Rest : never;

/**
 * Rejects every outgoing request from oidc-provider, whatever URLs a client has supplied.
 * `createClientMetadataFetchingMiddleware` fetches metadata documents, and `ClientKeyCache` fetches keys.
 */
const rejectOutgoingRequest: NonNullable<Configuration['fetch']> = async () => {
  throw new Error('the authorization server does not fetch client URLs');
};

const listClientAuthenticationMethods = ({
  accepted,
  hasAuthority,
}: ClientCertificateSupport): NonNullable<Configuration['clientAuthMethods']> => [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
  ...(hasAuthority ? (['tls_client_auth'] as const) : []),
  ...(accepted ? (['self_signed_tls_client_auth'] as const) : []),
  'none',
];

const protocolConfiguration: Configuration = {
  responseTypes: ['code'],
  assertJwtClientAuthClaimsAndHeader: assertClientAssertionClaims,
  enabledJWA: {
    clientAuthSigningAlgValues: [...clientAssertionAlgorithms],
    dPoPSigningAlgValues: [...dpopAlgorithms],
    idTokenSigningAlgValues: [...idTokenSigningAlgorithms],
    authorizationSigningAlgValues: [...idTokenSigningAlgorithms],
    introspectionSigningAlgValues: [...idTokenSigningAlgorithms],
    requestObjectSigningAlgValues: [...requestObjectAlgorithms],
  },
  pkce: { required: isPkceRequired },
  scopes: [...openIdConnectScopes, ...scopeNames],
  acrValues: [oneFactorAcrValue, twoFactorAcrValue],
  claims: { openid: ['sub', 'acr', 'amr', 'auth_time'], profile: [...claimsByScope.profile], email: [...claimsByScope.email] },
  conformIdTokenClaims: false, // many clients read the name and the e-mail address from the ID token and never call userinfo
  rotateRefreshToken: shouldRotateOrThrowOnReplay,
  issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
  expiresWithSession: async () => false, // clients keep their access when the user signs out of the browser
  allowOmittingSingleRegisteredRedirectUri: false,
  acceptQueryParamAccessTokens: false,
  /**
   * Allows CORS requests from the origins of redirect URIs: to userinfo for all clients, and to all endpoints for public clients.
   */
  clientBasedCORS: (ctx, origin, client) =>
    (ctx.oidc.route === 'userinfo' || client.clientAuthMethod === 'none') && isRedirectUriOrigin(client.redirectUris ?? [], origin),
  ttl: {
    AccessToken: tokenAndSessionLifetimesInSeconds.accessToken,
    ClientCredentials: tokenAndSessionLifetimesInSeconds.accessToken,
    AuthorizationCode: tokenAndSessionLifetimesInSeconds.authorizationCode,
    RefreshToken: tokenAndSessionLifetimesInSeconds.refreshToken,
    DeviceCode: tokenAndSessionLifetimesInSeconds.deviceCode,
    Grant: tokenAndSessionLifetimesInSeconds.grant,
    IdToken: tokenAndSessionLifetimesInSeconds.idToken,
    Interaction: tokenAndSessionLifetimesInSeconds.interaction,
    Session: tokenAndSessionLifetimesInSeconds.session,
  },
};

const features = (em: EntityManager, issuer: string, pages: OidcPageHandlers, dpopNonceSecret: Buffer): Configuration['features'] => ({
  devInteractions: { enabled: false },
  externalSigningSupport: { enabled: true, ack: 'experimental-01' },
  clientCredentials: { enabled: true },
  revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
  introspection: { enabled: true, allowedPolicy: allowOwnTokenIntrospectionAndAddDetails },
  jwtIntrospection: { enabled: true },
  jwtResponseModes: { enabled: true },
  pushedAuthorizationRequests: { enabled: true },
  requestObjects: requestObjectConfiguration,
  // A client whose clock is wrong receives a nonce to include in its proof (RFC 9449 section 8).
  dPoP: { enabled: true, nonceSecret: dpopNonceSecret },
  fapi: { enabled: true, profile: getFapiProfile },
  richAuthorizationRequests: configureRichAuthorizationRequests(em),
  deviceFlow: {
    enabled: true,
    mask: '****-****',
    userCodeInputSource: pages.askForCode,
    userCodeConfirmSource: pages.confirmDevice,
    successSource: pages.deviceConnected,
  },
  registration: dynamicClientRegistrationConfiguration,
  backchannelLogout: { enabled: true },
  claimsParameter: { enabled: true, assertClaimsParameter },
  rpInitiatedLogout: { enabled: true, logoutSource: pages.confirmSignOut, postLogoutSuccessSource: pages.signedOut },
  resourceIndicators: {
    enabled: true,
    useGrantedResource: async () => true,
    /**
     * Selects the API as the audience if API scopes or authorization details are requested. Otherwise, the request is a plain sign-in, and
     * the token is for userinfo.
     */
    defaultResource: async (ctx, client, among) => {
      if (among !== undefined) return among;
      const params = ctx.oidc.params;
      // A client credentials request without `scope` receives all scopes that the client is registered for (RFC 6749 section 3.3).
      if (params?.['grant_type'] === 'client_credentials') {
        params['scope'] ??= client.scope;
        return apiAudienceFromIssuer(issuer);
      }
      if (params?.['authorization_details'] !== undefined) return apiAudienceFromIssuer(issuer);
      const scope = params?.['scope'];
      return typeof scope === 'string' && filterApiScopes(scope.split(' ')).length > 0 ? apiAudienceFromIssuer(issuer) : undefined;
    },
    getResourceServerInfo: async (_ctx, resource) => {
      if (!listAccessTokenAudiences(issuer).includes(resource)) throw new errors.InvalidTarget('the resource is unknown');
      return {
        scope: scopeNames.join(' '),
        audience: resource,
        accessTokenTTL: tokenAndSessionLifetimesInSeconds.accessToken,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'ES256' } },
      };
    },
  },
});

/**
 * Extends oidc-provider's default prompts. If the account of a session is closed or disabled, the sign-in page is shown, because
 * oidc-provider would fail otherwise. The sign-in page is also shown if the session does not have the requested `acr`. Public native
 * clients always require consent.
 */
function createInteractionPolicy(em: EntityManager): interactionPolicy.DefaultPolicy {
  const { Check, base } = interactionPolicy;
  const prompts = base();
  prompts
    .get('login')
    ?.checks.add(
      new Check('account_gone', 'the account cannot be used', 'login_required', ({ oidc }) =>
        oidc.session?.accountId !== undefined && oidc.account === undefined ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
      ),
    );
  replaceRequestedAcrChecks(prompts, em);
  const consentChecks = prompts.get('consent')?.checks;
  // By default, oidc-provider asks for consent for every native client, even if it is confidential.
  consentChecks?.remove('native_client_prompt');
  consentChecks?.add(
    new Check('public_native_client', 'public native clients require interaction', 'interaction_required', ({ oidc }) =>
      oidc.client && requiresConsentAtEverySignIn(oidc.client, oidc.params?.['redirect_uri']) && !oidc.result?.consent
        ? Check.REQUEST_PROMPT
        : Check.NO_NEED_TO_PROMPT,
    ),
    0,
  );
  return prompts;
}

/**
 * Restores `offline_access`, which oidc-provider drops without `prompt=consent`. On this server, users always consent to this scope
 * explicitly.
 */
function keepOfflineAccess(ctx: KoaContextWithOIDC): void {
  const { params, client } = ctx.oidc;
  const requestedScope = readRequestedScope(ctx);
  if (!params || typeof requestedScope !== 'string' || !requestedScope.split(' ').includes('offline_access')) return;
  const scopes = new Set(typeof params['scope'] === 'string' ? params['scope'].split(' ') : []);
  if (client?.grantTypeAllowed('refresh_token')) params['scope'] = [...scopes.add('offline_access')].join(' ');
}
