import { randomBytes } from 'node:crypto';
import { initServer } from '@ts-rest/express';
import { contract, type ApplicationCreate, type ApplicationWithSecret } from '@mandate/contract';
import type { ApiKeyRevocationCause } from '../api-keys/revoke-api-keys.ts';
import { getClientAddressAndUserAgent } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { getViolatedConstraint } from '../database/errors/sql-error-fields.ts';
import { createResourceIdempotently } from '../http/writes/idempotency.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { applicationFromEntity } from './application-from-entity.ts';
import { Application } from '../applications/application.entity.ts';
import { createApplication } from '../applications/validate-and-create-application.ts';
import { deleteApplicationAndRevokeGrantsAndKeys } from './delete-application.ts';
import { getApplicationPath, auditApplicationChange } from '../applications/audit-application-change.ts';
import { handleCreateRegistrationToken, handleRotateApplicationSecret } from './secret-and-registration-token-handlers.ts';
import {
  assertApplicationFieldsValid,
  updateApplicationAndRevokeScopes,
  type ApplicationRuleSettings,
} from './validate-lock-and-update-application.ts';

export const applicationRoutes = (dependencies: HandlerDependencies) =>
  initServer().router(contract.applications, {
    list: (request) => handleListApplications(dependencies, request),
    get: (request) => handleGetApplication(dependencies, request),
    create: (request) => handleCreateApplication(dependencies, request),
    update: (request) => handleUpdateApplication(dependencies, request),
    delete: (request) => handleDeleteApplication(dependencies, request),
    rotateSecret: (request) => handleRotateApplicationSecret(dependencies, request),
    createRegistrationToken: (request) => handleCreateRegistrationToken(dependencies, request),
  });

const handleListApplications: RouteHandler<typeof contract.applications.list, HandlerDependencies> = async (
  { em, pages },
  { query, req, res },
) => {
  const position = pages.decodeCursor(req, query);
  const before = position ? { id: { $lt: position[1] } } : {};
  const rows = await em.fork().find(Application, before, { orderBy: { id: 'desc' }, limit: query.limit + 1 });
  return { status: 200, body: pages.respondWithPage(req, res, query, rows, applicationFromEntity, ({ id }) => [id, id]) };
};

const handleGetApplication: RouteHandler<typeof contract.applications.get, HandlerDependencies> = async (
  { em },
  { params: { application_id: id } },
) => {
  const application = await em.fork().findOne(Application, { id });
  if (!application) throw createProblem('not_found', { detail: translatable`Application ${{ id }} was not found.` });
  return { status: 200, body: applicationFromEntity(application) };
};

const handleCreateApplication: RouteHandler<typeof contract.applications.create, HandlerDependencies> = (
  { em, development, clientCertificates },
  { body, req, res },
) =>
  createResourceIdempotently(
    em,
    req,
    res,
    async (inner): Promise<ApplicationWithSecret> => {
      const { application, secret } = await registerApplication(inner, body, { development, clientCertificates });
      await auditApplicationChange(inner, req, 'application.created', application.clientId, { scopes: application.scopes });
      return { ...applicationFromEntity(application), client_secret: secret };
    },
    ({ id }) => getApplicationPath(id),
  );

const handleUpdateApplication: RouteHandler<typeof contract.applications.update, HandlerDependencies> = async (
  { em, development, clientCertificates },
  { params, body, req },
) => {
  const updated = await em.transactional(async (inner) => {
    const { application, withdrawn } = await updateApplicationAndRevokeScopes(
      inner,
      params.application_id,
      body,
      { ...revocationSource(req), development, clientCertificates },
      new Date(),
    );
    const details = { fields: Object.keys(body), ...(withdrawn.length > 0 && { withdrawn_scopes: withdrawn }) };
    await auditApplicationChange(inner, req, 'application.updated', application.clientId, details);
    return application;
  });
  return { status: 200, body: applicationFromEntity(updated) };
};

const handleDeleteApplication: RouteHandler<typeof contract.applications.delete, HandlerDependencies> = async ({ em }, { params, req }) => {
  await em.transactional((inner) => deleteAndAudit(inner, req, params.application_id));
  return { status: 204, body: undefined };
};

type Request = Parameters<typeof getClientAddressAndUserAgent>[0];

async function deleteAndAudit(em: EntityManager, req: Request, id: number): Promise<void> {
  await auditApplicationChange(
    em,
    req,
    'application.deleted',
    await deleteApplicationAndRevokeGrantsAndKeys(em, id, revocationSource(req), new Date()),
  );
}

function revocationSource(req: Request): Omit<ApiKeyRevocationCause, 'reason'> {
  const { user, clientId } = requirePrincipal(req);
  return { source: getClientAddressAndUserAgent(req), actorId: user?.id, clientId };
}

async function registerApplication(em: EntityManager, body: ApplicationCreate, settings: ApplicationRuleSettings) {
  const input = {
    clientId: body.client_id ?? `app-${randomBytes(8).toString('hex')}`,
    name: body.name,
    type: body.type,
    redirectUris: body.redirect_uris ?? [],
    postLogoutRedirectUris: body.post_logout_redirect_uris ?? [],
    backchannelLogoutUri: body.backchannel_logout_uri ?? null,
    scopes: body.scopes,
    preapprovedScopes: body.preapproved_scopes ?? [],
    grantTypes: body.grant_types,
    firstParty: body.first_party ?? false,
    logoUri: body.logo_uri ?? null,
    policyUri: body.policy_uri ?? null,
    tosUri: body.tos_uri ?? null,
    rateLimitPerMinute: body.rate_limit_per_minute ?? null,
    quotaPerMonth: body.quota_per_month ?? null,
    refreshGraceSeconds: body.refresh_grace_seconds ?? null,
    orderLimitsCeiling: body.order_limits_ceiling ?? null,
    orderCategoriesCeiling: body.order_products_ceiling?.categories ?? null,
    tokenEndpointAuthMethod: body.token_endpoint_auth_method,
    jwks: body.jwks ?? null,
    jwksUri: body.jwks_uri ?? null,
    tlsClientAuthSubject: body.tls_client_auth_subject ?? null,
    tlsClientCertificateBoundAccessTokens: body.tls_client_certificate_bound_access_tokens ?? false,
    requireSignedRequestObject: body.require_signed_request_object ?? false,
    securityProfile: body.security_profile ?? null,
    idTokenSignedResponseAlg: body.id_token_signed_response_alg ?? null,
    allowNonceInsteadOfPkce: body.allow_nonce_instead_of_pkce ?? false,
    allowNeitherPkceNorNonce: body.allow_neither_pkce_nor_nonce ?? false,
  };
  assertApplicationFieldsValid(input, settings);
  return createApplication(em, input).catch((error: unknown) => {
    if (getViolatedConstraint(error) !== 'applications_client_id_unique') throw error;
    throw createProblem('client_id_taken', {
      detail: 'Another application already has this client ID.',
      errors: [{ in: 'body', pointer: '#/client_id', code: 'not_unique', detail: 'Another application already has this client ID.' }],
      cause: error,
    });
  });
}
