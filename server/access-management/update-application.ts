import { LockMode } from '@mikro-orm/core';
import type { ApplicationUpdate } from '@mandate/contract';
import type { ApiKeyRevocationCause } from '../api-keys/revoke-api-keys.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { createProblem, createInvalidRequestProblem } from '../http/problem-details/problem.ts';
import { translatable, TranslatableText, type FieldErrorDetail } from '../http/problem-details/translatable-text.ts';
import { lockChangesOfCeilings } from '../order-limits/lock-changes-of-order-limits.ts';
import { revokeAccessOfWithdrawnPreapproval } from '../oauth/grants/revoke-access-of-withdrawn-preapproval.ts';
import { Application } from '../applications/application.entity.ts';
import { getClientAuthenticationMethod, toPublicJwks, type ClientAuthenticationInput } from '../applications/client-authentication.ts';
import { findApplicationFieldErrors, type ApplicationFields } from '../applications/create-application.ts';

/**
 * Applies a merge patch (RFC 7396) in a transaction, and locks the application until the transaction ends. A scope that is no longer
 * preapproved is revoked from grants whose user did not consent to it.
 * @returns the application, and the scopes that are no longer preapproved
 */
export async function updateApplication(
  em: EntityManager,
  id: number,
  update: ApplicationUpdate,
  { development, ...by }: Omit<ApiKeyRevocationCause, 'reason'> & { readonly development: boolean },
  now: Date,
): Promise<{ application: Application; withdrawn: string[] }> {
  // `first_party` determines whether the shop's maximum applies.
  const affectsCeilings = ['order_limits_ceiling', 'order_products_ceiling', 'first_party'].some((field) => field in update);
  if (affectsCeilings) await lockChangesOfCeilings(em);
  const application = await lockApplicationRow(em, id);
  const preapproved = application.preapprovedScopes;
  if (application.registration === 'metadata_document') assertNotDefinedByDocument(update);
  const { status } = update;
  Object.assign(application, definedFields(update));
  if (status === 'disabled') application.disable();
  if (status === 'active') application.enable();
  const authentication = getAuthenticationAfterUpdate(application, update);
  assertApplicationFieldsValid({ ...getValidatedFields(application), ...authentication }, development);
  application.setKeys(authentication.jwks ? toPublicJwks(authentication.jwks) : null, authentication.jwksUri ?? null);
  await em.flush();
  const withdrawn = preapproved.filter((scope) => !application.preapprovedScopes.includes(scope));
  if (withdrawn.length > 0) await revokeAccessOfWithdrawnPreapproval(em, application.clientId, withdrawn, by, now);
  return { application, withdrawn };
}

/** Returns an application, locked until the transaction ends. */
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
    detail: 'This field is defined by the metadata document of the application.',
  }) as const;

/** Returns how the application authenticates after an update. Another method than `private_key_jwt` removes the keys. */
function getAuthenticationAfterUpdate(
  application: Application,
  { token_endpoint_auth_method: requested, jwks, jwks_uri: jwksUri }: ApplicationUpdate,
): ClientAuthenticationInput {
  const tokenEndpointAuthMethod = requested ?? getClientAuthenticationMethod(application);
  const keepsKeys = tokenEndpointAuthMethod === 'private_key_jwt';
  return {
    type: application.type,
    tokenEndpointAuthMethod,
    jwks: jwks === undefined && keepsKeys ? application.jwks : jwks,
    jwksUri: jwksUri === undefined && keepsKeys ? application.jwksUri : jwksUri,
  };
}

/** `Required`, so that the compiler reports a field that is missing here. */
function getValidatedFields(application: Application): Required<Omit<ApplicationFields, keyof ClientAuthenticationInput>> {
  const { redirectUris, postLogoutRedirectUris, scopes, preapprovedScopes, grantTypes, logoUri, registration, firstParty } = application;
  const { securityProfile, refreshGraceSeconds, allowNonceInsteadOfPkce, idTokenSignedResponseAlg } = application;
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
    idTokenSignedResponseAlg,
  };
}

/** Converts the description of a field error to a sentence, such as `Must be public for a self-registered application.` */
function toSentence(detail: FieldErrorDetail): TranslatableText {
  const { message, values } = typeof detail === 'string' ? new TranslatableText(detail) : detail;
  return new TranslatableText(`${message.charAt(0).toUpperCase()}${message.slice(1)}.`, values);
}

/** Throws a validation problem if an application has invalid fields. */
export function assertApplicationFieldsValid(application: ApplicationFields, development: boolean): void {
  const [first, ...more] = findApplicationFieldErrors(application, development);
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
  order_products_ceiling: productsCeiling,
  security_profile: securityProfile,
  id_token_signed_response_alg: idTokenSignedResponseAlg,
}: ApplicationUpdate): object =>
  Object.fromEntries(
    Object.entries({
      name,
      logoUri,
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
      idTokenSignedResponseAlg,
    }).filter(([, value]) => value !== undefined),
  );
