import { initServer } from '@ts-rest/express';
import type { InferEntity } from '@mikro-orm/core';
import { contract, type Backup } from '@mandate/contract';
import { getClientAddressAndUserAgent, recordAuditEvent } from '../audit/record-audit-event.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import { createKeysetPageFilter } from '../http/response/keyset-page-filter.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { startTaskIdempotently } from '../http/writes/idempotency.ts';
import { enqueueTask } from '../tasks/enqueue-task.ts';
import { getTaskPath } from '../tasks/task-from-entity.ts';
import { BackupFile } from './backup-file.entity.ts';

export type BackupDependencies = {
  /** Whether the operator has configured a directory for backups. */
  readonly hasBackupDirectory: boolean;
};
type Dependencies = HandlerDependencies & BackupDependencies;

/**
 * Backup tasks are visible only to tokens with this scope. A task is stopped if the administrator who started it loses the role that the
 * scope requires.
 */
const needs = ['backups.manage'] as const;

export const backupRoutes = (dependencies: Dependencies) =>
  initServer().router(contract.backups, {
    list: (request) => handleListBackups(dependencies, request),
    create: (request) => handleCreateBackup(dependencies, request),
    check: (request) => handleCheckBackup(dependencies, request),
  });

const handleListBackups: RouteHandler<typeof contract.backups.list, Dependencies> = async (
  { em, pages, hasBackupDirectory },
  { query, req, res },
) => {
  assertBackupDirectoryConfigured(hasBackupDirectory);
  const rows = await em.find(BackupFile, createKeysetPageFilter('createdAt', pages.decodeCursor(req, query), 'desc'), {
    orderBy: { createdAt: 'desc', id: 'desc' },
    limit: query.limit + 1,
    disableIdentityMap: true,
  });
  return {
    status: 200,
    body: pages.respondWithPage(req, res, query, rows, backupFromEntity, ({ createdAt, id }) => [createdAt.toISOString(), id]),
  };
};

const handleCreateBackup: RouteHandler<typeof contract.backups.create, Dependencies> = ({ em, hasBackupDirectory }, { req, res }) => {
  assertBackupDirectoryConfigured(hasBackupDirectory);
  const principal = requirePrincipal(req);
  return startTaskIdempotently(
    em,
    req,
    res,
    async (inner) => {
      const task = await enqueueTask(inner, principal, { type: 'backup', params: {}, needs });
      const event = {
        action: 'backup.started',
        actorId: principal.user?.id,
        clientId: principal.clientId,
        subject: `task:${task.id}`,
      } as const;
      await recordAuditEvent(inner, getClientAddressAndUserAgent(req), event, new Date());
      return task;
    },
    getTaskPath,
  );
};

const handleCheckBackup: RouteHandler<typeof contract.backups.check, Dependencies> = (
  { em, hasBackupDirectory },
  { params: { backup_id: id }, req, res },
) => {
  assertBackupDirectoryConfigured(hasBackupDirectory);
  return startTaskIdempotently(
    em,
    req,
    res,
    async (inner) => {
      if ((await inner.count(BackupFile, { id })) === 0)
        throw createProblem('not_found', { detail: translatable`Backup ${{ id }} was not found.` });
      return enqueueTask(inner, requirePrincipal(req), { type: 'backup_check', params: { backup_id: id }, needs });
    },
    getTaskPath,
  );
};

function assertBackupDirectoryConfigured(isConfigured: boolean): void {
  if (isConfigured) return;
  throw createProblem('backups_not_configured', {
    detail:
      'On the server, set the MANDATE_BACKUP_DIR environment variable to a directory that only the server can access, and restart the server.',
  });
}

const backupFromEntity = (file: InferEntity<typeof BackupFile>): Backup => ({
  id: file.id,
  file_name: file.fileName,
  created_at: file.createdAt.toISOString(),
  bytes: file.bytes,
  rows: file.rowCount,
  checked_at: file.checkedAt?.toISOString() ?? null,
  check_result: file.checkResult ?? null,
});
