import { initServer } from '@ts-rest/express';
import { contract } from '@mandate/contract';
import { getClientAddressAndUserAgent, recordAuditEvent } from '../audit/record-audit-event.ts';
import { requireAnyScope } from '../http/middleware/authorize-by-scope.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { storeUploadAndStartImport } from '../imports/store-upload-and-start-import.ts';

export const userImportCreationRoute = (dependencies: HandlerDependencies) =>
  initServer().router(contract.userImports, {
    create: (request) => handleCreateUserImport(dependencies, request),
  });

const handleCreateUserImport: RouteHandler<typeof contract.userImports.create, HandlerDependencies> = ({ em }, { query, req, res }) => {
  const principal = requirePrincipal(req);
  requireAnyScope(principal, 'users.administer');
  return storeUploadAndStartImport(em, req, res, {
    type: 'user_import',
    needs: ['users.administer'],
    query,
    onStarted: (inner, { id }) =>
      recordAuditEvent(
        inner,
        getClientAddressAndUserAgent(req),
        {
          action: 'accounts.imported',
          actorId: principal.user?.id,
          clientId: principal.clientId,
          subject: `task:${id}`,
          details: { source: query.source, dry_run: query.dry_run === 'true' },
        },
        new Date(),
      ),
  });
};
