import {
  administratorOnlyScopes,
  firstPartyOnlyScopes,
  scopeNames,
  scopeDefinitions as knownScopes,
  type OrderSpendingLimits,
  type Scope,
} from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { findUrlRejectionReason } from '../outgoing-http/check-public-url.ts';
import {
  Application,
  type ApplicationRegistration,
  deviceCodeGrantType,
  type GrantType,
  isRegisteredWithoutApproval,
} from './application.entity.ts';
import {
  findClientAuthenticationErrors,
  resolveRequestedAuthenticationMethod,
  isCertificateAuthenticationMethod,
  parsePublicJwks,
  type ClientAuthenticationInput,
} from './client-authentication-method-and-keys.ts';
import { findRequestObjectSettingErrors } from './find-request-object-setting-errors.ts';
import type { IdTokenSigningAlgorithm } from './id-token-signing-algorithm.ts';
import { listPkceExceptionFields } from './list-pkce-exception-fields.ts';
import { findSecurityProfileErrors, type ProfiledApplication, type SecurityProfile } from './find-security-profile-errors.ts';
import { hashClientSecret, generateClientSecret } from './client-secret.ts';
import { findLogoUriError } from './application-logo-uri.ts';
import { findRedirectUriRegistrationError } from './find-redirect-uri-registration-error.ts';
import { translatable, TranslatableText, type FieldErrorDetail } from '../http/problem-details/translatable-text.ts';
import { formatInEnglish } from '../http/problem-details/translate-detail.ts';

export type ApplicationInput = {
  readonly clientId: string;
  readonly name: string;
  readonly type: 'public' | 'confidential';
  readonly redirectUris?: readonly string[];
  readonly postLogoutRedirectUris?: readonly string[];
  readonly backchannelLogoutUri?: string | null;
  readonly scopes: readonly Scope[];
  /** Scopes that an administrator approved for all users; users are not asked for consent to them. */
  readonly preapprovedScopes?: readonly string[];
  readonly grantTypes: readonly GrantType[];
  readonly firstParty?: boolean;
  readonly logoUri?: string | null;
  /** Link to the privacy policy. */
  readonly policyUri?: string | null;
  /** Link to the terms of service. */
  readonly tosUri?: string | null;
  readonly registration?: ApplicationRegistration;
  /** When the cached client ID metadata document expires. */
  readonly metadataExpiresAt?: Date | null;
  /** Overrides the server's default rate limit for this application. */
  readonly rateLimitPerMinute?: number | null;
  readonly quotaPerMonth?: number | null;
  /** Grace period for repeated refreshes in seconds; overrides the server's default. */
  readonly refreshGraceSeconds?: number | null;
  readonly orderLimitsCeiling?: OrderSpendingLimits | null;
  /** Whether a `nonce` can replace PKCE in authorization requests. */
  readonly allowNonceInsteadOfPkce?: boolean;
  /** Whether authorization requests may omit both PKCE and the `nonce`. */
  readonly allowNeitherPkceNorNonce?: boolean;
  readonly orderCategoriesCeiling?: string[] | null;
  /** Security profile that the application must follow. */
  readonly securityProfile?: SecurityProfile | null;
  /** Algorithm used to sign ID tokens; `null` means the default. */
  readonly idTokenSignedResponseAlg?: IdTokenSigningAlgorithm | null;
  /** Whether access tokens are bound to the certificate that was used to request them. */
  readonly tlsClientCertificateBoundAccessTokens?: boolean;
  /** Whether authorization requests must contain signed request objects (RFC 9101). */
  readonly requireSignedRequestObject?: boolean;
} & Pick<ClientAuthenticationInput, 'tokenEndpointAuthMethod' | 'jwks' | 'jwksUri' | 'tlsClientAuthSubject'>;

/**
 * Creates an application. The secret is returned only once; the database stores its hash. Only confidential applications that authenticate
 * with a secret get a secret.
 */
export async function createApplication(
  em: EntityManager,
  input: ApplicationInput,
  newSecret = generateClientSecret(),
): Promise<{ application: Application; secret: string | null }> {
  const { redirectUris = [], postLogoutRedirectUris = [], preapprovedScopes = [], firstParty = false, logoUri = null } = input;
  const { rateLimitPerMinute = null, quotaPerMonth = null, refreshGraceSeconds = null, orderLimitsCeiling = null } = input;
  const { registration = 'administrator', metadataExpiresAt = null, jwks = null, jwksUri = null } = input;
  const { securityProfile = null, backchannelLogoutUri = null, allowNonceInsteadOfPkce = false } = input;
  for (const { field, detail } of findApplicationFieldErrors({ ...input, redirectUris }, true))
    throw new Error(`application ${input.clientId}: ${field} ${formatInEnglish(detail)}`);
  const method = resolveRequestedAuthenticationMethod(input);
  const secret = method === 'client_secret_basic' ? newSecret : null;
  const application = em.create(Application, {
    clientId: input.clientId,
    name: input.name,
    type: input.type,
    redirectUris: [...redirectUris],
    postLogoutRedirectUris: [...postLogoutRedirectUris],
    backchannelLogoutUri,
    scopes: [...input.scopes],
    preapprovedScopes: [...preapprovedScopes],
    grantTypes: [...input.grantTypes],
    secretHashes: secret === null ? [] : [hashClientSecret(secret)],
    jwks: jwks && parsePublicJwks(jwks, method),
    jwksUri,
    certificateAuthMethod: isCertificateAuthenticationMethod(method) ? method : null,
    tlsClientAuthSubject: input.tlsClientAuthSubject ?? null,
    tlsClientCertificateBoundAccessTokens: input.tlsClientCertificateBoundAccessTokens ?? false,
    requireSignedRequestObject: input.requireSignedRequestObject ?? false,
    securityProfile,
    idTokenSignedResponseAlg: input.idTokenSignedResponseAlg ?? null,
    firstParty,
    logoUri,
    policyUri: input.policyUri ?? null,
    tosUri: input.tosUri ?? null,
    registration,
    metadataExpiresAt,
    rateLimitPerMinute,
    quotaPerMonth,
    refreshGraceSeconds,
    orderLimitsCeiling,
    orderCategoriesCeiling: input.orderCategoriesCeiling ?? null,
    allowNonceInsteadOfPkce,
    allowNeitherPkceNorNonce: input.allowNeitherPkceNorNonce ?? false,
  });
  await em.persist(application).flush();
  return { application, secret };
}

export type ApplicationFields = Pick<Application, 'type'> & {
  readonly [Field in 'redirectUris' | 'scopes' | 'grantTypes']: readonly string[];
} & { readonly [Field in 'postLogoutRedirectUris' | 'preapprovedScopes']?: readonly string[] } & Partial<ClientAuthenticationInput> &
  Pick<
    ProfiledApplication,
    'securityProfile' | 'refreshGraceSeconds' | 'allowNonceInsteadOfPkce' | 'allowNeitherPkceNorNonce' | 'idTokenSignedResponseAlg'
  > & {
    readonly logoUri?: string | null | undefined;
    readonly backchannelLogoutUri?: string | null | undefined;
    readonly registration?: ApplicationRegistration;
    readonly firstParty?: boolean;
    readonly requireSignedRequestObject?: boolean | undefined;
  };

export type ApplicationFieldError = {
  readonly field:
    | 'type'
    | 'scopes'
    | 'grant_types'
    | 'redirect_uris'
    | 'post_logout_redirect_uris'
    | 'allow_nonce_instead_of_pkce'
    | 'allow_neither_pkce_nor_nonce'
    | 'id_token_signed_response_alg'
    | 'backchannel_logout_uri'
    | 'preapproved_scopes'
    | 'logo_uri'
    | 'token_endpoint_auth_method'
    | 'jwks'
    | 'jwks_uri'
    | 'tls_client_auth_subject'
    | 'require_signed_request_object'
    | 'refresh_grace_seconds';
  readonly detail: FieldErrorDetail;
};

/**
 * Yields an error for each violation of the rules that apply to every application, regardless of how it is registered.
 * @param development whether HTTP URLs that point to this machine are accepted
 */
export function* findApplicationFieldErrors(input: ApplicationFields, development: boolean): Generator<ApplicationFieldError> {
  const { type, grantTypes, redirectUris, postLogoutRedirectUris = [], scopes, preapprovedScopes = [], logoUri } = input;
  if (grantTypes.length === 0) yield { field: 'grant_types', detail: 'must contain a grant type' };
  if (type === 'public' && grantTypes.includes('client_credentials')) {
    yield { field: 'grant_types', detail: 'must not contain client_credentials for a public application (RFC 6749 section 4.4)' };
  }
  if (grantTypes.includes('authorization_code') !== redirectUris.length > 0) {
    yield { field: 'redirect_uris', detail: 'must contain a URI if and only if users sign in through a browser' };
  }
  yield* redirectUriErrors('redirect_uris', redirectUris);
  yield* redirectUriErrors('post_logout_redirect_uris', postLogoutRedirectUris);
  yield* backchannelLogoutUriErrors(input, development);
  const beyond = preapprovedScopes.filter((name) => name.includes('.') && !scopes.some((scope) => scope === name));
  if (beyond.length > 0)
    yield {
      field: 'preapproved_scopes',
      detail: translatable`contains scopes that are missing from the scopes field: ${{ scopes: beyond.join(', ') }}`,
    };
  const firstPartyOnly = scopes.filter((name) => firstPartyOnlyScopes.has(name));
  if (firstPartyOnly.length > 0 && input.firstParty !== true) {
    yield {
      field: 'scopes',
      detail: translatable`contains scopes that only applications operated by the shop can have: ${{ scopes: firstPartyOnly.join(', ') }}`,
    };
  }
  const notPreapprovable = preapprovedScopes.filter((name) => administratorOnlyScopes.has(name));
  if (notPreapprovable.length > 0) {
    yield {
      field: 'preapproved_scopes',
      detail: translatable`contains scopes that cannot be preapproved, because administrators must approve them on the consent page: ${{ scopes: notPreapprovable.join(', ') }}`,
    };
  }
  const logo = typeof logoUri === 'string' ? findLogoUriError(logoUri) : undefined;
  if (logo !== undefined) yield { field: 'logo_uri', detail: logo };
  yield* findClientAuthenticationErrors(input);
  yield* findRequestObjectSettingErrors(input);
  yield* findSecurityProfileErrors(input);
  if (type === 'public') {
    for (const field of listPkceExceptionFields(input))
      yield { field, detail: 'can be true only for a confidential application (RFC 9700 section 2.1.1)' };
  }
  if (input.registration !== undefined && isRegisteredWithoutApproval({ registration: input.registration }))
    yield* selfRegisteredErrors(input);
}

/**
 * Grant types that self-registered applications can use. Users of these applications must sign in with a browser, which shows the consent
 * page.
 */
export const grantTypesOfSelfRegisteredApplications: readonly string[] = ['authorization_code', 'refresh_token'];

/** Scopes that a self-registered application can have. */
export const scopesOfSelfRegisteredApplications: readonly Scope[] = scopeNames.filter(
  (name) => !knownScopes[name].admin && !firstPartyOnlyScopes.has(name),
);

/** Yields an error for each violation of the additional rules for self-registered applications. */
function* selfRegisteredErrors({ type, scopes, grantTypes, preapprovedScopes = [] }: ApplicationFields): Generator<ApplicationFieldError> {
  if (type !== 'public') yield { field: 'type', detail: 'must be public for a self-registered application' };
  const otherGrants = grantTypes.filter((name) => !grantTypesOfSelfRegisteredApplications.includes(name));
  if (otherGrants.length > 0)
    yield {
      field: 'grant_types',
      detail: translatable`must not contain ${{ values: otherGrants.join(', ') }} for a self-registered application`,
    };
  const beyond = scopes.filter((name) => !scopesOfSelfRegisteredApplications.some((allowed) => allowed === name));
  if (beyond.length > 0)
    yield { field: 'scopes', detail: translatable`must not contain ${{ values: beyond.join(', ') }} for a self-registered application` };
  if (preapprovedScopes.length > 0)
    yield {
      field: 'preapproved_scopes',
      detail: 'must be empty for a self-registered application, whose users are always asked for consent',
    };
}

function* backchannelLogoutUriErrors(
  { backchannelLogoutUri: uri, grantTypes }: ApplicationFields,
  development: boolean,
): Generator<ApplicationFieldError> {
  if (uri == null) return;
  const field = 'backchannel_logout_uri';
  const rejectionReason = findUrlRejectionReason(uri, development, 'https://example.com/backchannel-logout');
  if (rejectionReason !== undefined) yield { field, detail: rejectionReason };
  if (!grantTypes.includes('authorization_code') && !grantTypes.includes(deviceCodeGrantType))
    yield { field, detail: 'requires that users sign in to the application' };
}

function* redirectUriErrors(
  field: 'redirect_uris' | 'post_logout_redirect_uris',
  uris: readonly string[],
): Generator<ApplicationFieldError> {
  if (uris.length > 10) yield { field, detail: 'contains more than 10 URIs' };
  for (const uri of uris) {
    const fault = findRedirectUriRegistrationError(uri);
    if (fault) yield { field, detail: translatable`${{ uri }} ${{ reason: new TranslatableText(fault) }}` };
  }
}
