import { randomBytes } from 'node:crypto';
import { initServer } from '@ts-rest/express';
import { contract, type ApplicationCreate, type NewApplication } from '@mandate/contract';
import type { RevocationCause } from '../api-keys/revoke-api-keys.ts';
import { sourceOf } from '../audit/record-audit-event.ts';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { constraintOf } from '../database/errors/sql-errors.ts';
import { once } from '../http/writes/idempotency.ts';
import { problem } from '../http/problem-details/problem.ts';
import { principalOf } from '../http/request/request-context.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { toApplication } from './application-response.ts';
import { Application } from '../applications/application.entity.ts';
import { createApplication } from '../applications/create-application.ts';
import { deleteApplication } from './delete-application.ts';
import { applicationLocation, recordApplicationChange } from '../applications/application-changes.ts';
import { secretHandlers } from './secret-handlers.ts';
import { refuseFaults, updateApplication } from './update-application.ts';

export const applicationRoutes = ({ em, pages }: ResourceDeps) =>
  initServer().router(contract.applications, {
    list: async ({ query, req, res }) => {
      const position = pages.positionOf(req, query);
      const before = position ? { id: { $lt: position[1] } } : {};
      const rows = await em.fork().find(Application, before, { orderBy: { id: 'desc' }, limit: query.limit + 1 });
      return { status: 200, body: pages.answer(req, res, query, rows, toApplication, ({ id }) => [id, id]) };
    },

    get: async ({ params: { application_id: id } }) => {
      const application = await em.fork().findOne(Application, { id });
      if (!application) throw problem('not_found', { detail: `Application ${id} was not found.` });
      return { status: 200, body: toApplication(application) };
    },

    create: ({ body, req, res }) =>
      once(
        em,
        req,
        res,
        async (inner): Promise<NewApplication> => {
          const { application, secret } = await registerApplication(inner, body);
          await recordApplicationChange(inner, req, 'application.created', application.clientId, { scopes: application.scopes });
          return { ...toApplication(application), client_secret: secret };
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
      return { status: 200, body: toApplication(updated) };
    },

    delete: async ({ params, req }) => {
      await em.transactional((inner) => deleteAndAudit(inner, req, params.application_id));
      return { status: 204, body: undefined };
    },

    ...secretHandlers({ em }),
  });

type Request = Parameters<typeof sourceOf>[0];

async function deleteAndAudit(em: Em, req: Request, id: number): Promise<void> {
  await recordApplicationChange(em, req, 'application.deleted', await deleteApplication(em, id, revocationSource(req), new Date()));
}

function revocationSource(req: Request): Omit<RevocationCause, 'reason'> {
  const { user, clientId } = principalOf(req);
  return { source: sourceOf(req), actorId: user?.id, clientId };
}

async function registerApplication(em: Em, body: ApplicationCreate) {
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
  refuseFaults(input);
  return createApplication(em, input).catch((error: unknown) => {
    if (constraintOf(error) !== 'applications_client_id_unique') throw error;
    throw problem('client_id_taken', {
      detail: 'Another application has this client id.',
      errors: [{ in: 'body', pointer: '#/client_id', code: 'not_unique', detail: 'Another application has this client id.' }],
      cause: error,
    });
  });
}
