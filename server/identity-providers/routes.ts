import { LockMode } from '@mikro-orm/core';
import { initServer } from '@ts-rest/express';
import { contract, type AuditAction } from '@mandate/contract';
import { getClientAddressAndUserAgent, recordAuditEvent } from '../audit/record-audit-event.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import { enableEtagOfCreatedResource } from '../http/response/etag-of-created-resource.ts';
import {
  rejectIfMatchMismatch,
  respondWithEtagOfChangedResource,
  respondWithEtagOrNotModified,
} from '../http/response/etag-and-conditional-requests.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { createResourceIdempotently } from '../http/writes/idempotency.ts';
import type { LogoImage } from '../logos/parse-logo-image.ts';
import { readUploadedLogo } from '../logos/read-uploaded-logo.ts';
import { IdentityProviderEntity, type IdentityProviderRow } from './identity-provider.entity.ts';
import {
  createIdentityProvider,
  identityProviderFromEntity,
  setIdentityProviderLogo,
  updateIdentityProvider,
  type IdentityProviderDependencies,
} from './save-identity-provider.ts';

type Dependencies = HandlerDependencies & IdentityProviderDependencies;

const etagName = (id: number): string => `identity-provider-${id}`;

export const identityProviderRoutes = (dependencies: Dependencies) =>
  initServer().router(contract.identityProviders, {
    list: (request) => handleListIdentityProviders(dependencies, request),
    get: (request) => handleGetIdentityProvider(dependencies, request),
    create: (request) => handleCreateIdentityProvider(dependencies, request),
    update: (request) => handleUpdateIdentityProvider(dependencies, request),
    delete: (request) => handleDeleteIdentityProvider(dependencies, request),
    setLogo: (request) => handleSetLogo(dependencies, request),
    deleteLogo: (request) => handleDeleteLogo(dependencies, request),
  });

const handleListIdentityProviders: RouteHandler<typeof contract.identityProviders.list, Dependencies> = async (
  { em, pages, issuer },
  { query, req, res },
) => {
  const position = pages.decodeCursor(req, query);
  const before = position ? { id: { $lt: position[1] } } : {};
  const options = { orderBy: { id: 'desc' }, limit: query.limit + 1, disableIdentityMap: true } as const;
  const rows = await em.find(IdentityProviderEntity, before, options);
  const toItem = (row: IdentityProviderRow) => identityProviderFromEntity(row, issuer);
  return { status: 200, body: pages.respondWithPage(req, res, query, rows, toItem, ({ id }) => [id, id]) };
};

const handleGetIdentityProvider: RouteHandler<typeof contract.identityProviders.get, Dependencies> = async (
  { em, issuer },
  { params: { identity_provider_id: id }, req, res },
) => {
  const row = await em.findOne(IdentityProviderEntity, { id }, { disableIdentityMap: true });
  if (!row) throw notFound(id);
  return respondWithEtagOrNotModified(req, res, etagName(id), identityProviderFromEntity(row, issuer));
};

const handleCreateIdentityProvider: RouteHandler<typeof contract.identityProviders.create, Dependencies> = (
  dependencies,
  { body, req, res },
) => {
  enableEtagOfCreatedResource(res, etagName);
  return createResourceIdempotently(
    dependencies.em,
    req,
    res,
    async (inner) => {
      const row = await createIdentityProvider(inner, body, dependencies);
      await auditChange(inner, req, 'identity_provider.created', row, Object.keys(body));
      return identityProviderFromEntity(row, dependencies.issuer);
    },
    ({ id }) => `/api/v1/identity-providers/${id}`,
  );
};

const handleUpdateIdentityProvider: RouteHandler<typeof contract.identityProviders.update, Dependencies> = async (
  dependencies,
  { params: { identity_provider_id: id }, body, req, res },
) => {
  const changed = await dependencies.em.transactional(async (inner) => {
    const row = await lockProvider(inner, id);
    rejectIfMatchMismatch(req, etagName(id), row);
    const { version } = row;
    await updateIdentityProvider(inner, row, body, dependencies);
    if (row.version !== version) await auditChange(inner, req, 'identity_provider.updated', row, Object.keys(body));
    return identityProviderFromEntity(row, dependencies.issuer);
  });
  return respondWithEtagOfChangedResource(res, etagName(id), changed);
};

const handleDeleteIdentityProvider: RouteHandler<typeof contract.identityProviders.delete, Dependencies> = async (
  { em },
  { params: { identity_provider_id: id }, req },
) => {
  await em.transactional(async (inner) => {
    const row = await lockProvider(inner, id);
    rejectIfMatchMismatch(req, etagName(id), row);
    await inner.remove(row).flush();
    await auditChange(inner, req, 'identity_provider.deleted', row, []);
  });
  return { status: 204, body: undefined };
};

const handleSetLogo: RouteHandler<typeof contract.identityProviders.setLogo, Dependencies> = async (
  { em, issuer },
  { params: { identity_provider_id: id }, req },
) => ({ status: 200, body: identityProviderFromEntity(await changeLogo(em, req, id, await readUploadedLogo(req)), issuer) });

const handleDeleteLogo: RouteHandler<typeof contract.identityProviders.deleteLogo, Dependencies> = async (
  { em },
  { params: { identity_provider_id: id }, req },
) => {
  await changeLogo(em, req, id, null);
  return { status: 204, body: undefined };
};

const changeLogo = (em: EntityManager, req: AuditedRequest, id: number, logo: LogoImage | null): Promise<IdentityProviderRow> =>
  em.transactional(async (inner) => {
    const row = await lockProvider(inner, id);
    const { version } = row;
    await setIdentityProviderLogo(inner, row, logo);
    if (row.version !== version) await auditChange(inner, req, 'identity_provider.updated', row, ['logo']);
    return row;
  });

async function lockProvider(em: EntityManager, id: number): Promise<IdentityProviderRow> {
  const row = await em.findOne(IdentityProviderEntity, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
  if (!row) throw notFound(id);
  return row;
}

const notFound = (id: number) => createProblem('not_found', { detail: translatable`Identity provider ${{ id }} was not found.` });

type AuditedRequest = Parameters<typeof getClientAddressAndUserAgent>[0];

/** Records a change in the audit log, in the transaction that makes the change. `fields` are the names of the fields in the request. */
async function auditChange(
  em: EntityManager,
  req: AuditedRequest,
  action: AuditAction,
  { slug }: IdentityProviderRow,
  fields: readonly string[],
): Promise<void> {
  const { user, clientId } = requirePrincipal(req);
  const event = { action, actorId: user?.id, clientId, subject: `identity_provider:${slug}`, details: fields.length > 0 ? { fields } : {} };
  await recordAuditEvent(em, getClientAddressAndUserAgent(req), event, new Date());
}
