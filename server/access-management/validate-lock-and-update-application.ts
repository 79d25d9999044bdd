import { LockMode } from '@mikro-orm/core';
import type { ApplicationUpdate } from '@mandate/contract';
import type { ApiKeyRevocationCause } from '../api-keys/revoke-api-keys.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { createProblem, createInvalidRequestProblem } from '../http/problem-details/problem.ts';
import { translatable, TranslatableText, type FieldErrorDetail } from '../http/problem-details/translatable-text.ts';
import { lockAdministratorSetLimitsForChange } from '../order-limits/lock-order-limits-for-change.ts';
import { revokeAccessOfWithdrawnPreapproval } from '../oauth/grants/revoke-access-of-withdrawn-preapproval.ts';
import { Application } from '../applications/application.entity.ts';
import {
  getClientAuthenticationMethod,
  resolveRequestedAuthenticationMethod,
  parsePublicJwks,
  type ClientAuthenticationInput,
} from '../applications/client-authentication-method-and-keys.ts';
import {
  findClientCertificateSupportErrors,
  type ClientCertificateSupport,
} from '../applications/find-client-certificate-support-errors.ts';
import { findApplicationFieldErrors, type ApplicationFields } from '../applications/validate-and-create-application.ts';

/** Server settings that affect which application fields are valid. */
export type ApplicationRuleSettings = {
  /** Whether HTTP URLs that point to this machine are accepted. */
  readonly development: boolean;
  readonly clientCertificates: ClientCertificateSupport;
};

/**
 * Applies a merge patch (RFC 7396) to an application. Requires a transaction, and locks the application until the transaction ends. A scope
 * that is no longer preapproved is removed from every grant whose user did not consent to the scope.
 * @returns the application, and the scopes that are no longer preapproved
 */
export async function updateApplicationAndRevokeScopes(
  em: EntityManager,
  id: number,
  update: ApplicationUpdate,
  { development, clientCertificates, ...by }: Omit<ApiKeyRevocationCause, 'reason'> & ApplicationRuleSettings,
  now: Date,
): Promise<{ application: Application; withdrawn: string[] }> {
  // `first_party` determines whether the shop's maximum order limits apply to the application.
  const affectsCeilings = ['order_limits_ceiling', 'order_products_ceiling', 'first_party'].some((field) => field in update);
  if (affectsCeilings) await lockAdministratorSetLimitsForChange(em);
  const application = await lockApplicationRow(em, id);
  const preapproved = application.preapprovedScopes;
  if (application.registration === 'metadata_document') assertNotDefinedByDocument(update);
  const { status } = update;
  Object.assign(application, definedFields(update));
  if (status === 'disabled') application.disable();
  if (status === 'active') application.enable();
  const authentication = getAuthenticationAfterUpdate(application, update);
  // only settings that the request changes are checked against the server's certificate support, so that an application can be renamed or
  // disabled even if the server no longer supports its settings
  const requested = {
    tokenEndpointAuthMethod: update.token_endpoint_auth_method,
    tlsClientCertificateBoundAccessTokens: update.tls_client_certificate_bound_access_tokens,
  };
  assertNoApplicationErrors([
    ...findApplicationFieldErrors({ ...getValidatedFields(application), ...authentication }, development),
    ...findClientCertificateSupportErrors(requested, clientCertificates),
  ]);
  setAuthentication(application, authentication);
  await em.flush();
  const withdrawn = preapproved.filter((scope) => !application.preapprovedScopes.includes(scope));
  if (withdrawn.length > 0) await revokeAccessOfWithdrawnPreapproval(em, application.clientId, withdrawn, by, now);
  return { application, withdrawn };
}

/** Returns an application, and locks it until the transaction ends. */
export async function lockApplicationRow(em: EntityManager, id: number): Promise<Application> {
  const application = await em.findOne(Application, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!application) throw createProblem('not_found', { detail: translatable`Application ${{ id }} was not found.` });
  return application;
}

const fieldsOutsideDocument = new Set([
  'status',
  'backchannel_logout_uri',
  'rate_limit_per_minute',
  'quota_per_month',
  'order_limits_ceiling',
  'order_products_ceiling',
]);

/** Rejects changes to fields that the metadata document defines, because the next fetch of the document would undo such changes. */
function assertNotDefinedByDocument(update: ApplicationUpdate): void {
  const [first, ...more] = Object.keys(update).filter((field) => !fieldsOutsideDocument.has(field));
  if (first !== undefined) throw createInvalidRequestProblem(documentFieldError(first), ...more.map(documentFieldError));
}

const documentFieldError = (field: string) =>
  ({
    in: 'body',
    pointer: `#/${field}`,
    code: 'invalid_value',
    detail: 'This field is defined in the metadata document of the application.',
  }) as const;

function setAuthentication(application: Application, authentication: ClientAuthenticationInput): void {
  const { jwks, jwksUri = null, tlsClientAuthSubject: subject = null } = authentication;
  const method = resolveRequestedAuthenticationMethod(authentication);
  application.setAuthentication(method, { jwks: jwks ? parsePublicJwks(jwks, method) : null, jwksUri, subject });
}

/**
 * Returns how the application authenticates after an update. If the authentication method changes, the previous keys and certificate
 * subject are removed.
 */
function getAuthenticationAfterUpdate(
  application: Application,
  { token_endpoint_auth_method: requested, jwks, jwks_uri: jwksUri, tls_client_auth_subject: subject }: ApplicationUpdate,
): ClientAuthenticationInput {
  const previous = getClientAuthenticationMethod(application);
  const tokenEndpointAuthMethod = requested ?? previous;
  const keepsKeys = tokenEndpointAuthMethod === previous;
  return {
    type: application.type,
    tokenEndpointAuthMethod,
    jwks: jwks === undefined && keepsKeys ? application.jwks : jwks,
    jwksUri: jwksUri === undefined && keepsKeys ? application.jwksUri : jwksUri,
    tlsClientAuthSubject: subject === undefined && keepsKeys ? application.tlsClientAuthSubject : subject,
  };
}

/** The return type is `Required`, so that the compiler reports any field that this function omits. */
function getValidatedFields(application: Application): Required<Omit<ApplicationFields, keyof ClientAuthenticationInput>> {
  const { redirectUris, postLogoutRedirectUris, scopes, preapprovedScopes, grantTypes, logoUri, registration, firstParty } = application;
  const { securityProfile, refreshGraceSeconds, allowNonceInsteadOfPkce, idTokenSignedResponseAlg } = application;
  const { requireSignedRequestObject, allowNeitherPkceNorNonce } = application;
  const uris = { redirectUris, postLogoutRedirectUris, backchannelLogoutUri: application.backchannelLogoutUri, logoUri };
  return {
    ...uris,
    scopes,
    preapprovedScopes,
    grantTypes,
    registration,
    firstParty,
    securityProfile,
    refreshGraceSeconds,
    allowNonceInsteadOfPkce,
    allowNeitherPkceNorNonce,
    idTokenSignedResponseAlg,
    requireSignedRequestObject,
  };
}

/** Converts the description of a field error to a sentence, such as `Must be public for a self-registered application.` */
function toSentence(detail: FieldErrorDetail): TranslatableText {
  const { message, values } = typeof detail === 'string' ? new TranslatableText(detail) : detail;
  return new TranslatableText(`${message.charAt(0).toUpperCase()}${message.slice(1)}.`, values);
}

/** Throws a validation problem if an application has invalid fields. */
export const assertApplicationFieldsValid = (
  application: ApplicationFields & { readonly tlsClientCertificateBoundAccessTokens: boolean },
  { development, clientCertificates }: ApplicationRuleSettings,
): void =>
  assertNoApplicationErrors([
    ...findApplicationFieldErrors(application, development),
    ...findClientCertificateSupportErrors(application, clientCertificates),
  ]);

function assertNoApplicationErrors([first, ...more]: readonly { readonly field: string; readonly detail: FieldErrorDetail }[]): void {
  if (!first) return;
  throw createInvalidRequestProblem(
    ...[first, ...more].map(
      ({ field, detail }) => ({ in: 'body', pointer: `#/${field}`, code: 'invalid_value', detail: toSentence(detail) }) as const,
    ),
  );
}

const definedFields = ({
  name,
  logo_uri: logoUri,
  policy_uri: policyUri,
  tos_uri: tosUri,
  redirect_uris: redirectUris,
  post_logout_redirect_uris: postLogoutRedirectUris,
  backchannel_logout_uri: backchannelLogoutUri,
  scopes,
  preapproved_scopes: preapprovedScopes,
  grant_types: grantTypes,
  first_party: firstParty,
  rate_limit_per_minute: rateLimitPerMinute,
  quota_per_month: quotaPerMonth,
  refresh_grace_seconds: refreshGraceSeconds,
  order_limits_ceiling: orderLimitsCeiling,
  allow_nonce_instead_of_pkce: allowNonceInsteadOfPkce,
  allow_neither_pkce_nor_nonce: allowNeitherPkceNorNonce,
  order_products_ceiling: productsCeiling,
  security_profile: securityProfile,
  id_token_signed_response_alg: idTokenSignedResponseAlg,
  tls_client_certificate_bound_access_tokens: tlsClientCertificateBoundAccessTokens,
  require_signed_request_object: requireSignedRequestObject,
}: ApplicationUpdate): object =>
  Object.fromEntries(
    Object.entries({
      name,
      logoUri,
      policyUri,
      tosUri,
      redirectUris,
      postLogoutRedirectUris,
      backchannelLogoutUri,
      scopes,
      preapprovedScopes,
      grantTypes,
      firstParty,
      rateLimitPerMinute,
      quotaPerMonth,
      refreshGraceSeconds,
      orderLimitsCeiling,
      orderCategoriesCeiling: productsCeiling && productsCeiling.categories,
      securityProfile,
      allowNonceInsteadOfPkce,
      allowNeitherPkceNorNonce,
      idTokenSignedResponseAlg,
      tlsClientCertificateBoundAccessTokens,
      requireSignedRequestObject,
    }).filter(([, value]) => value !== undefined),
  );
