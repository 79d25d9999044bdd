import { randomBytes } from 'node:crypto';
import {
  applicationCreateSchema,
  applicationLinkSchemas,
  certificateAuthenticationMethods,
  certificateSubjectTypes,
  clientAuthenticationMethods,
  forbiddenCharacterMessageFromError,
  idTokenSigningAlgorithms,
  maxPublicKeysInApplicationJwks,
  scopeDefinitions,
  type Scope,
} from '@mandate/contract';
import type { Request } from 'express';
import { errors, Provider, type AdapterPayload, type Configuration } from 'oidc-provider';
import { z } from 'zod';
import { type ApplicationRegistration, supportedGrantTypes, type GrantType } from '../../applications/application.entity.ts';
import { generateClientSecret } from '../../applications/client-secret.ts';
import {
  findApplicationFieldErrors,
  createApplication,
  grantTypesOfSelfRegisteredApplications,
  type ApplicationInput,
} from '../../applications/validate-and-create-application.ts';
import {
  findClientAuthenticationErrors,
  resolveRequestedAuthenticationMethod,
  parsePublicJwks,
  type ClientAuthenticationInput,
} from '../../applications/client-authentication-method-and-keys.ts';
import { recordAuditEvent, getClientAddressAndUserAgent } from '../../audit/record-audit-event.ts';
import type { EntityManager } from '../../database/entity-manager/entity-manager-type.ts';
import { findMetadataFieldsWithFetchableUrl } from './find-metadata-fields-with-fetchable-url.ts';
import { defaultMcpClientScopes, isApiScope, isKnownScope } from '../protocol/oauth-scopes.ts';
import type { FieldErrorDetail } from '../../http/problem-details/translatable-text.ts';
import { formatInEnglish } from '../../http/problem-details/translate-detail.ts';

type Registration = NonNullable<NonNullable<Configuration['features']>['registration']>;
type Policy = NonNullable<NonNullable<Registration['policies']>[string]>;
type Properties = Parameters<Policy>[1];

/** Policy name for initial access tokens that an administrator creates (server/access-management/create-registration-token.ts). */
export const administratorRegistrationPolicyName = 'of-the-shop';
/** Policy name for registrations without an initial access token (`limitAndAuthorizeAnonymousRegistrations`). */
export const openRegistrationPolicyName = 'open';

/** Grant types for clients that no administrator has reviewed. The client credentials grant is excluded. */
const registrableGrants = supportedGrantTypes.filter((name) => name !== 'client_credentials');

/** Enforces the rules for registration requests, before oidc-provider validates the metadata. */
function checkRequest(properties: Properties, allowedGrants: readonly string[]): void {
  checkClientAuthentication(properties);
  const { jwks_uri: _checked, ...otherProperties } = properties;
  const [urlField] = findMetadataFieldsWithFetchableUrl(otherProperties);
  if (urlField !== undefined)
    throw new errors.InvalidClientMetadata(`${urlField} is not supported: this server does not fetch application URLs; omit the field`);
  const requested = requestedPropertiesSchema.safeParse(properties);
  if (!requested.success) throw new errors.InvalidClientMetadata('scope must be a string, and grant_types a list of strings');
  const known = requested.data.scope.split(' ').filter(isKnownScope);
  const adminScopes = known.filter((scope) => isApiScope(scope) && scopeDefinitions[scope].admin);
  if (adminScopes.length > 0)
    throw new errors.InvalidClientMetadata(`only an administrator can register applications with ${adminScopes.join(', ')}`);
  if (!requested.data.grant_types.every((name) => allowedGrants.includes(name)))
    throw new errors.InvalidClientMetadata(`grant_types must be among ${allowedGrants.join(', ')}`);
  properties.client_name ??= properties.client_id;
  replaceSignatureAlgorithms(properties);
  removeInvalidLinks(properties);
  // Every application with a `backchannel_logout_uri` receives `sid`, and the response must contain the value that the server uses (RFC
  // 7591 section 3.2.1).
  if (properties.backchannel_logout_uri !== undefined) properties.backchannel_logout_session_required = true;
  // The scope always contains `openid`, because oidc-provider treats an empty scope as all scopes.
  properties.scope = ['openid', ...known.filter((scope) => scope !== 'openid')].join(' ');
}

/**
 * Removes links that the consent page could not show, so that the response contains only links that the server uses (RFC 7591 section
 * 3.2.1). Such links do not prevent the registration.
 */
function removeInvalidLinks(properties: Properties): void {
  for (const [field, schema] of Object.entries(applicationLinkSchemas))
    if (!schema.safeParse(properties[field]).success) delete properties[field];
}

/**
 * Sets the signature algorithms that the server uses, because the response must contain the registered values (RFC 7591 section 3.2.1).
 * Authorization and introspection responses are signed with the same algorithm as ID tokens.
 */
function replaceSignatureAlgorithms(properties: Properties): void {
  const algorithm = properties.id_token_signed_response_alg ?? 'RS256';
  Object.assign(properties, { authorization_signed_response_alg: algorithm, introspection_signed_response_alg: algorithm });
  delete properties.request_object_signing_alg; // the server accepts every supported algorithm
}

const authenticationSchema = z.object({
  token_endpoint_auth_method: z.string().default('client_secret_basic'),
  jwks: z.object({ keys: z.array(z.record(z.unknown())).min(1).max(maxPublicKeysInApplicationJwks) }).optional(),
  jwks_uri: z.string().max(2000).optional(),
});

/**
 * Checks the authentication method and the keys, and reports an error that names the field. oidc-provider repeats these checks, but less
 * strictly.
 */
function checkClientAuthentication(properties: Properties): void {
  // Keys that the server would not use are ignored (RFC 7591 section 2).
  if (!methodsWithKeys.has(properties.token_endpoint_auth_method ?? 'none')) delete properties.jwks;
  delete properties.token_endpoint_auth_signing_alg; // the server accepts every supported algorithm, so the response names none
  const requested = authenticationSchema.safeParse(properties);
  if (!requested.success) {
    const field = requested.error.issues[0]?.path[0] ?? 'jwks';
    throw new errors.InvalidClientMetadata(
      `${field} is not valid: jwks must contain a list of 1 to ${maxPublicKeysInApplicationJwks} keys`,
    );
  }
  const { jwks, jwks_uri: jwksUri } = requested.data;
  const authentication = { ...toApplicationAuthentication(properties), jwks, jwksUri };
  const [fault] = findClientAuthenticationErrors(authentication);
  if (fault) throw new errors.InvalidClientMetadata(`${toRegistrationField(fault.field)} ${formatInEnglish(fault.detail)}`);
  if (jwks) properties.jwks = { keys: [...parsePublicJwks(jwks, resolveRequestedAuthenticationMethod(authentication)).keys] };
}

const methodsWithKeys: ReadonlySet<string> = new Set(['private_key_jwt', ...certificateAuthenticationMethods]);

/**
 * Returns the name of a field in registration requests. For certificate names, RFC 8705 section 2.1.2 defines one field for each type of
 * name.
 */
const toRegistrationField = (field: string): string =>
  field === 'tls_client_auth_subject' ? `one of ${certificateSubjectTypes.map((type) => `tls_client_auth_${type}`).join(', ')}` : field;

/**
 * Converts the RFC 7591 metadata about client authentication. oidc-provider rejects unsupported methods, and metadata that contains more
 * than one certificate name.
 */
function toApplicationAuthentication(
  metadata: AdapterPayload | Properties,
): Pick<ClientAuthenticationInput, 'type' | 'tokenEndpointAuthMethod' | 'tlsClientAuthSubject'> {
  const method = clientAuthenticationMethods.find((name) => name === metadata.token_endpoint_auth_method) ?? 'client_secret_basic';
  const [tlsClientAuthSubject = null] = certificateSubjectTypes.flatMap((type) => {
    const value: unknown = metadata[`tls_client_auth_${type}`];
    return typeof value === 'string' ? [{ type, value }] : [];
  });
  return {
    type: method === 'none' ? 'public' : 'confidential',
    tokenEndpointAuthMethod: method,
    tlsClientAuthSubject: method === 'tls_client_auth' ? tlsClientAuthSubject : null,
  };
}

const requestedPropertiesSchema = z.object({ scope: z.string().default(''), grant_types: z.array(z.string()).default([]) });

/** Makes the client public. RFC 7591 section 3.2.1 allows the server to set properties that the request omits. */
function requirePublicClient(properties: Properties): void {
  if ((properties.token_endpoint_auth_method ?? 'none') !== 'none')
    throw new errors.InvalidClientMetadata(
      'token_endpoint_auth_method must be none: applications with a secret or a key are registered by an administrator',
    );
  properties.token_endpoint_auth_method = 'none';
  delete properties.client_secret;
  delete properties.client_secret_expires_at;
}

/**
 * Configures dynamic client registration (RFC 7591). The initial access token, which is created by an administrator or by
 * `limitAndAuthorizeAnonymousRegistrations`, specifies the policy.
 */
export const dynamicClientRegistrationConfiguration: Registration = {
  enabled: true,
  initialAccessToken: true,
  issueRegistrationAccessToken: false,
  idFactory: () => `app-${randomBytes(9).toString('base64url').replaceAll('-', '0').toLowerCase()}`,
  secretFactory: generateClientSecret,
  policies: {
    [administratorRegistrationPolicyName]: (_ctx, properties) => checkRequest(properties, registrableGrants),
    [openRegistrationPolicyName]: (_ctx, properties) => {
      properties.scope = addDefaultScopes(properties.scope);
      checkRequest(properties, grantTypesOfSelfRegisteredApplications);
      requirePublicClient(properties);
    },
  },
};

/**
 * Adds the scopes that an MCP client may request after its registration. MCP clients register with only the scopes in the server's first
 * 401 response, and a client can never request scopes for which it is not registered.
 */
const addDefaultScopes = (scope: string | undefined): string =>
  [...new Set([...(scope ?? '').split(' '), ...defaultMcpClientScopes])].filter((name) => name !== '').join(' ');

/** Creates an application from client metadata that oidc-provider has validated. */
export async function storeApplicationFromClientMetadata(
  em: EntityManager,
  clientId: string,
  metadata: AdapterPayload,
  development: boolean,
): Promise<void> {
  const registration = Provider.ctx?.oidc.entities.InitialAccessToken?.policies?.includes(openRegistrationPolicyName)
    ? 'open_registration'
    : 'registration_token';
  const input = {
    clientId,
    name: metadata.client_name ?? clientId,
    ...toApplicationAuthentication(metadata),
    tlsClientCertificateBoundAccessTokens: metadata['tls_client_certificate_bound_access_tokens'] === true,
    requireSignedRequestObject: metadata['require_signed_request_object'] === true,
    jwks: metadata.jwks,
    jwksUri: metadata.jwks_uri,
    idTokenSignedResponseAlg: idTokenSigningAlgorithms.find((algorithm) => algorithm === metadata.id_token_signed_response_alg) ?? null,
    redirectUris: metadata.redirect_uris ?? [],
    postLogoutRedirectUris: metadata.post_logout_redirect_uris ?? [],
    backchannelLogoutUri: metadata.backchannel_logout_uri ?? null,
    policyUri: metadata.policy_uri ?? null,
    tosUri: metadata.tos_uri ?? null,
    scopes: parseApiScopes(metadata.scope),
    grantTypes: (metadata.grant_types ?? []).filter(isRegistrable),
    registration,
  } satisfies ApplicationInput;
  const fault = findSelfRegistrationError(input, development);
  if (fault?.field === 'redirect_uris') throw new errors.InvalidRedirectUri(formatInEnglish(fault.detail));
  if (fault) throw new errors.InvalidClientMetadata(`${fault.field} ${formatInEnglish(fault.detail)}`);
  const req = z.custom<Request>().parse(Provider.ctx?.req);
  await em.fork().transactional(async (inner) => {
    await createApplication(inner, input, metadata.client_secret);
    await auditApplicationSelfRegistration(inner, req, clientId, registration, input.scopes);
  });
}

/** Returns the first reason why a client cannot register itself, with the RFC 7591 field name; undefined if registration is allowed. */
export function findSelfRegistrationError(
  input: ApplicationInput,
  development: boolean,
): { readonly field: string; readonly detail: FieldErrorDetail } | undefined {
  const name = applicationCreateSchema.shape.name.safeParse(input.name);
  if (!name.success)
    return { field: 'client_name', detail: forbiddenCharacterMessageFromError(name.error) ?? 'must be one line of up to 100 characters' };
  const [fault] = findApplicationFieldErrors({ redirectUris: [], ...input }, development);
  return fault;
}

/** Records the audit event for an application that has registered itself. Call this in the registration transaction. */
export async function auditApplicationSelfRegistration(
  em: EntityManager,
  req: Request,
  clientId: string,
  registration: ApplicationRegistration,
  granted: readonly Scope[],
): Promise<void> {
  const event = { action: 'application.registered', clientId, subject: `application:${clientId}` } as const;
  await recordAuditEvent(em, getClientAddressAndUserAgent(req), { ...event, details: { registration, scopes: granted } }, new Date());
}

const isRegistrable = (name: string): name is GrantType => registrableGrants.some((allowed) => allowed === name);

const parseApiScopes = (scope: string | undefined): Scope[] => (scope ?? '').split(' ').filter(isApiScope);
