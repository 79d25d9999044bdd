import { initServer } from '@ts-rest/express';
import { contract, fileMediaTypes } from '@mandate/contract';
import { onceAccepted } from '../http/writes/idempotency.ts';
import { total } from '../http/response/list-parameters.ts';
import { problem } from '../http/problem-details/problem.ts';
import { principalOf } from '../http/request/request-context.ts';
import type { ResourceDeps } from '../http/routing/handler-dependencies.ts';
import { findResult, findTask } from './find-task.ts';
import { finishTask } from './finish-task.ts';
import { countTasks, listTasks } from './list-tasks.ts';
import { streamOf } from './stored-file.ts';
import { taskLocation, toTask } from './task-rows.ts';

export const taskRoutes = ({ em, pages }: ResourceDeps) =>
  initServer().router(contract.tasks, {
    list: async ({ query, req, res }) => {
      const principal = principalOf(req);
      const rows = await listTasks(em, principal, query, pages.positionOf(req, query), query.limit);
      const page = pages.answer(req, res, query, rows, toTask, (row) => [toTask(row).created_at, row.id]);
      return { status: 200, body: { ...page, ...(await total(query, () => countTasks(em, principal, query))) } };
    },

    get: async ({ params, req, res }) => {
      const task = await findTask(em, principalOf(req), params.task_id);
      if (task.finished_at === null) res.set('Retry-After', '2');
      return { status: 200, body: task };
    },

    result: async ({ params, req, res }) => {
      const { fileId, task, result } = await findResult(em, principalOf(req), params.task_id);
      res.set({
        'Content-Type': `${fileMediaTypes[result.format]}; charset=utf-8`,
        'Content-Length': String(result.bytes),
        'Content-Disposition': `attachment; filename="${task.type.replace('_', '-')}-${task.id}.${result.format}"`,
        // RFC 9530: lets clients verify that the download is complete.
        'Repr-Digest': `sha-256=:${Buffer.from(result.sha256, 'hex').toString('base64')}:`,
      });
      const file = streamOf(em, fileId, result.bytes);
      // The response has started, so an error can only close the connection; Content-Length shows the client that data is missing.
      file.on('error', (error) => res.destroy(error));
      res.on('close', () => file.destroy());
      return { status: 200, body: file };
    },

    cancel: ({ params: { task_id: id }, req, res }) =>
      onceAccepted(
        em,
        req,
        res,
        async (inner) => {
          const { status } = await findTask(inner, principalOf(req), id);
          const canceled = await finishTask(inner, id, null, { status: 'canceled' });
          if (canceled) return canceled;
          throw problem('invalid_transition', { detail: `The task is finished${status === 'running' ? '' : `: it is ${status}`}.` });
        },
        taskLocation,
      ),
  });
