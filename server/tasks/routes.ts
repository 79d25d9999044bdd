import { initServer } from '@ts-rest/express';
import { contract, fileMediaTypes } from '@mandate/contract';
import { startTaskIdempotently } from '../http/writes/idempotency.ts';
import { createTotalCountFields } from '../http/response/time-range-and-total-count.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import type { RouteHandler } from '../http/routing/route-handler-type.ts';
import { findOwnTaskResultFileOrThrow, findOwnTask } from './find-own-task.ts';
import { finishTask } from './finish-task.ts';
import { countOwnTasks, listOwnTasks } from './list-own-tasks.ts';
import { streamStoredFile } from './stored-task-file.ts';
import { taskFromEntity, getTaskPath } from './task-from-entity.ts';

export const taskRoutes = (dependencies: HandlerDependencies) =>
  initServer().router(contract.tasks, {
    list: (request) => handleListTasks(dependencies, request),
    get: (request) => handleGetTask(dependencies, request),
    result: (request) => handleGetTaskResult(dependencies, request),
    cancel: (request) => handleCancelTask(dependencies, request),
  });

const handleListTasks: RouteHandler<typeof contract.tasks.list, HandlerDependencies> = async ({ em, pages }, { query, req, res }) => {
  const principal = requirePrincipal(req);
  const rows = await listOwnTasks(em, principal, query, pages.decodeCursor(req, query), query.limit);
  const page = pages.respondWithPage(req, res, query, rows, taskFromEntity, (task) => [task.createdAt.toISOString(), task.id]);
  return { status: 200, body: { ...page, ...(await createTotalCountFields(query, () => countOwnTasks(em, principal, query))) } };
};

const handleGetTask: RouteHandler<typeof contract.tasks.get, HandlerDependencies> = async ({ em }, { params, req, res }) => {
  const task = await findOwnTask(em, requirePrincipal(req), params.task_id);
  if (task.finished_at === null) res.set('Retry-After', '2');
  return { status: 200, body: task };
};

const handleGetTaskResult: RouteHandler<typeof contract.tasks.result, HandlerDependencies> = async ({ em }, { params, req, res }) => {
  const { fileId, task, result } = await findOwnTaskResultFileOrThrow(em, requirePrincipal(req), params.task_id);
  res.set({
    'Content-Type': `${fileMediaTypes[result.format]}; charset=utf-8`,
    'Content-Length': String(result.bytes),
    'Content-Disposition': `attachment; filename="${task.type.replace('_', '-')}-${task.id}.${result.format}"`,
    // This header (RFC 9530) lets clients verify that the download is complete.
    'Repr-Digest': `sha-256=:${Buffer.from(result.sha256, 'hex').toString('base64')}:`,
  });
  const file = streamStoredFile(em, fileId, result.bytes);
  // The response has started, so an error can only close the connection. The client can detect from Content-Length that data is missing.
  file.on('error', (error) => res.destroy(error));
  res.on('close', () => file.destroy());
  return { status: 200, body: file };
};

const handleCancelTask: RouteHandler<typeof contract.tasks.cancel, HandlerDependencies> = ({ em }, { params: { task_id: id }, req, res }) =>
  startTaskIdempotently(
    em,
    req,
    res,
    async (inner) => {
      const { status } = await findOwnTask(inner, requirePrincipal(req), id);
      const canceled = await finishTask(inner, id, null, { status: 'canceled' });
      if (canceled) return canceled;
      throw createProblem('invalid_transition', {
        detail:
          status === 'running'
            ? 'The task has already finished.'
            : translatable`The task has already finished with the status ${{ status }}.`,
      });
    },
    getTaskPath,
  );
