import { randomBytes } from 'node:crypto';
import { initServer } from '@ts-rest/express';
import { contract, type ApplicationCreate, type NewApplication } from '@mandate/contract';
import type { ApiKeyRevocationCause } from '../api-keys/revoke-api-keys.ts';
import { getRequestSource } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { violatedConstraint } from '../database/errors/sql-errors.ts';
import { createIdempotently } from '../http/writes/idempotency.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { requirePrincipal } from '../http/request/request-context.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import { applicationFromEntity } from './application-response.ts';
import { Application } from '../applications/application.entity.ts';
import { createApplication } from '../applications/create-application.ts';
import { deleteApplication } from './delete-application.ts';
import { applicationLocation, recordApplicationChange } from '../applications/application-changes.ts';
import { createApplicationSecretHandlers } from './application-secret-handlers.ts';
import { assertApplicationValid, updateApplication } from './update-application.ts';

export const applicationRoutes = ({ em, pages }: HandlerDependencies) =>
  initServer().router(contract.applications, {
    list: async ({ query, req, res }) => {
      const position = pages.decodeCursor(req, query);
      const before = position ? { id: { $lt: position[1] } } : {};
      const rows = await em.fork().find(Application, before, { orderBy: { id: 'desc' }, limit: query.limit + 1 });
      return { status: 200, body: pages.respondWithPage(req, res, query, rows, applicationFromEntity, ({ id }) => [id, id]) };
    },

    get: async ({ params: { application_id: id } }) => {
      const application = await em.fork().findOne(Application, { id });
      if (!application) throw createProblem('not_found', { detail: `Application ${id} was not found.` });
      return { status: 200, body: applicationFromEntity(application) };
    },

    create: ({ body, req, res }) =>
      createIdempotently(
        em,
        req,
        res,
        async (inner): Promise<NewApplication> => {
          const { application, secret } = await registerApplication(inner, body);
          await recordApplicationChange(inner, req, 'application.created', application.clientId, { scopes: application.scopes });
          return { ...applicationFromEntity(application), client_secret: secret };
        },
        ({ id }) => applicationLocation(id),
      ),

    update: async ({ params, body, req }) => {
      const updated = await em.transactional(async (inner) => {
        const { application, withdrawn } = await updateApplication(inner, params.application_id, body, revocationSource(req), new Date());
        const details = { fields: Object.keys(body), ...(withdrawn.length > 0 && { withdrawn_scopes: withdrawn }) };
        await recordApplicationChange(inner, req, 'application.updated', application.clientId, details);
        return application;
      });
      return { status: 200, body: applicationFromEntity(updated) };
    },

    delete: async ({ params, req }) => {
      await em.transactional((inner) => deleteAndAudit(inner, req, params.application_id));
      return { status: 204, body: undefined };
    },

    ...createApplicationSecretHandlers({ em }),
  });

type Request = Parameters<typeof getRequestSource>[0];

async function deleteAndAudit(em: EntityManager, req: Request, id: number): Promise<void> {
  await recordApplicationChange(em, req, 'application.deleted', await deleteApplication(em, id, revocationSource(req), new Date()));
}

function revocationSource(req: Request): Omit<ApiKeyRevocationCause, 'reason'> {
  const { user, clientId } = requirePrincipal(req);
  return { source: getRequestSource(req), actorId: user?.id, clientId };
}

async function registerApplication(em: EntityManager, body: ApplicationCreate) {
  const input = {
    clientId: body.client_id ?? `app-${randomBytes(8).toString('hex')}`,
    name: body.name,
    type: body.type,
    redirectUris: body.redirect_uris ?? [],
    postLogoutRedirectUris: body.post_logout_redirect_uris ?? [],
    scopes: body.scopes,
    preapprovedScopes: body.preapproved_scopes ?? [],
    grantTypes: body.grant_types,
    firstParty: body.first_party ?? false,
    logoUri: body.logo_uri ?? null,
    rateLimitPerMinute: body.rate_limit_per_minute ?? null,
    quotaPerMonth: body.quota_per_month ?? null,
    refreshGraceSeconds: body.refresh_grace_seconds ?? null,
  };
  assertApplicationValid(input);
  return createApplication(em, input).catch((error: unknown) => {
    if (violatedConstraint(error) !== 'applications_client_id_unique') throw error;
    throw createProblem('client_id_taken', {
      detail: 'Another application has this client id.',
      errors: [{ in: 'body', pointer: '#/client_id', code: 'not_unique', detail: 'Another application has this client id.' }],
      cause: error,
    });
  });
}
