import { initServer } from '@ts-rest/express';
import { contract, fileMediaTypes } from '@mandate/contract';
import { acceptIdempotently } from '../http/writes/idempotency.ts';
import { totalCountFields } from '../http/response/list-parameters.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { requirePrincipal } from '../http/request/request-context.ts';
import type { HandlerDependencies } from '../http/routing/handler-dependencies.ts';
import { findTaskResult, findTask } from './find-task.ts';
import { finishTask } from './finish-task.ts';
import { countTasks, listTasks } from './list-tasks.ts';
import { streamStoredFile } from './stored-file.ts';
import { taskFromEntity, taskLocation } from './task-rows.ts';

export const taskRoutes = ({ em, pages }: HandlerDependencies) =>
  initServer().router(contract.tasks, {
    list: async ({ query, req, res }) => {
      const principal = requirePrincipal(req);
      const rows = await listTasks(em, principal, query, pages.decodeCursor(req, query), query.limit);
      const page = pages.respondWithPage(req, res, query, rows, taskFromEntity, (task) => [task.createdAt.toISOString(), task.id]);
      return { status: 200, body: { ...page, ...(await totalCountFields(query, () => countTasks(em, principal, query))) } };
    },

    get: async ({ params, req, res }) => {
      const task = await findTask(em, requirePrincipal(req), params.task_id);
      if (task.finished_at === null) res.set('Retry-After', '2');
      return { status: 200, body: task };
    },

    result: async ({ params, req, res }) => {
      const { fileId, task, result } = await findTaskResult(em, requirePrincipal(req), params.task_id);
      res.set({
        'Content-Type': `${fileMediaTypes[result.format]}; charset=utf-8`,
        'Content-Length': String(result.bytes),
        'Content-Disposition': `attachment; filename="${task.type.replace('_', '-')}-${task.id}.${result.format}"`,
        // RFC 9530: lets clients verify that the download is complete.
        'Repr-Digest': `sha-256=:${Buffer.from(result.sha256, 'hex').toString('base64')}:`,
      });
      const file = streamStoredFile(em, fileId, result.bytes);
      // The response has started, so an error can only close the connection; Content-Length shows the client that data is missing.
      file.on('error', (error) => res.destroy(error));
      res.on('close', () => file.destroy());
      return { status: 200, body: file };
    },

    cancel: ({ params: { task_id: id }, req, res }) =>
      acceptIdempotently(
        em,
        req,
        res,
        async (inner) => {
          const { status } = await findTask(inner, requirePrincipal(req), id);
          const canceled = await finishTask(inner, id, null, { status: 'canceled' });
          if (canceled) return canceled;
          throw createProblem('invalid_transition', { detail: `The task is finished${status === 'running' ? '' : `: it is ${status}`}.` });
        },
        taskLocation,
      ),
  });
