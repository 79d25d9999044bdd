import { randomBytes } from 'node:crypto';
import { initServer } from '@ts-rest/express';
import { contract, type ApplicationCreate, type AuditAction } from '@mandate/contract';
import type { RevocationCause } from '../api-keys/revoke-api-keys.ts';
import { recordAuditEvent, sourceOf } from '../audit/record-audit-event.ts';
import type { Em } from '../database/orm.ts';
import { constraintOf } from '../database/sql-state.ts';
import { problem } from '../http/problem.ts';
import { principalOf } from '../http/request-scope.ts';
import type { ResourceDeps } from '../http/resource.ts';
import { toApplication } from './application-answer.ts';
import { Application } from './application.entity.ts';
import { hashClientSecret, newClientSecret } from './client-secret.ts';
import { createApplication } from './create-application.ts';
import { deleteApplication } from './delete-application.ts';
import { createRegistrationToken } from './registration-token.ts';
import { lockApplication, refuseFaults, updateApplication } from './update-application.ts';

const day = 24 * 60 * 60;

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

    create: async ({ body, req, res }) => {
      const { application, secret } = await em.transactional(async (inner) => {
        const made = await register(inner, body);
        await record(inner, req, 'application.created', made.application.clientId, { scopes: made.application.scopes });
        return made;
      });
      res.location(`/api/v1/applications/${application.id}`);
      return { status: 201, body: { ...toApplication(application), client_secret: secret } };
    },

    update: async ({ params, body, req }) => {
      const updated = await em.transactional(async (inner) => {
        const { application, withdrawn } = await updateApplication(inner, params.application_id, body, callerOf(req), new Date());
        const details = { fields: Object.keys(body), ...(withdrawn.length > 0 && { withdrawn_scopes: withdrawn }) };
        await record(inner, req, 'application.updated', application.clientId, details);
        return application;
      });
      return { status: 200, body: toApplication(updated) };
    },

    delete: async ({ params, req }) => {
      await em.transactional((inner) => remove(inner, req, params.application_id));
      return { status: 204, body: undefined };
    },

    rotateSecret: async ({ params, body, req }) => {
      const until = new Date(Date.now() + (body.overlap_seconds ?? day) * 1000);
      const secret = await em.transactional((inner) => rotateSecret(inner, req, params.application_id, until));
      return { status: 201, body: { client_secret: secret, previous_secret_expires_at: until.toISOString() } };
    },

    createRegistrationToken: async ({ body }) => {
      const { token, expiresAt } = await createRegistrationToken(em, body.expires_in ?? day, new Date());
      return { status: 201, body: { initial_access_token: token, expires_at: expiresAt.toISOString() } };
    },
  });

type Request = Parameters<typeof sourceOf>[0];

async function remove(em: Em, req: Request, id: number): Promise<void> {
  await record(em, req, 'application.deleted', await deleteApplication(em, id, callerOf(req), new Date()));
}

function callerOf(req: Request): Omit<RevocationCause, 'reason'> {
  const { user, clientId } = principalOf(req);
  return { source: sourceOf(req), actorId: user?.id, clientId };
}

async function rotateSecret(em: Em, req: Request, id: number, previousUntil: Date): Promise<string> {
  const secret = newClientSecret();
  const application = await lockApplication(em, id);
  if (application.type === 'public') throw problem('application_has_no_secret', { detail: 'A public application has no secret.' });
  application.rotateSecret(hashClientSecret(secret), previousUntil);
  await em.flush();
  await record(em, req, 'application.secret_rotated', application.clientId);
  return secret;
}

async function register(em: Em, body: ApplicationCreate) {
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

async function record(
  em: Em,
  req: Request,
  action: AuditAction,
  clientId: string,
  details: Record<string, readonly string[]> = {},
): Promise<void> {
  const { user, clientId: through } = principalOf(req);
  await recordAuditEvent(
    em,
    sourceOf(req),
    { action, actorId: user?.id, clientId: through, subject: `application:${clientId}`, details },
    new Date(),
  );
}
