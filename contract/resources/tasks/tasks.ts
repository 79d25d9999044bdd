import { initContract } from '@ts-rest/core';
import { z } from 'zod';
import { component } from '../../schema/named-schema.ts';
import { id, pathId } from '../../schema/ids.ts';
import { openEnum } from '../../schema/open-enum.ts';
import { commaList, page, pageQuery } from '../../schema/pagination.ts';
import { commonProblems, failuresOf, tokenGuarded, withBody, withCursor, withIdempotencyKey } from '../../protocol/problems.ts';
import { describedBy, idempotencyHeaders } from '../../protocol/route-metadata.ts';
import { instant } from '../../schema/text.ts';

const c = initContract();

export const taskProblems = {
  too_many_tasks: { status: 409, title: 'Too many tasks at once' },
  task_not_finished: { status: 409, title: 'The task is not finished' },
  gone: { status: 410, title: 'No longer kept' },
} as const;

const fails = failuresOf({ ...commonProblems, ...taskProblems });

export const taskTypes = ['order_export', 'order_import', 'product_import'] as const;
export const taskStatuses = ['queued', 'running', 'succeeded', 'failed', 'canceled'] as const;
export const fileFormats = ['csv', 'ndjson'] as const;
/** What files in these formats are called on the wire. */
export const fileMediaTypes = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;
/** Tasks of one owner that wait or run at the same time. */
export const tasksAtOnceMax = 2;

const count = z.number().int().min(0);

const importCounts = z.object({
  created: count,
  updated: count,
  unchanged: count.describe('Imported before with the same data.'),
  refused: count.describe('Refused orders or rows, including those that differ.'),
  differing: count.describe('Refused orders that were imported before with different data.'),
});

export const taskResult = component(
  'TaskResult',
  z.object({
    format: z.enum(fileFormats),
    rows: count.describe('Rows of the file; for an import, lines with something to say about them.'),
    bytes: count,
    sha256: z.string().describe('SHA-256 of the file, in hexadecimal.'),
    imported: importCounts.nullable().describe('What an import did; `null` for an export.'),
    expires_at: instant.describe('Until when the file can be fetched.'),
  }),
);

export const task = component(
  'Task',
  z.object({
    id,
    type: openEnum(taskTypes),
    status: z.enum(taskStatuses).describe('`succeeded`, `failed` and `canceled` are final.'),
    params: z.record(z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])).describe('What was asked for.'),
    progress: z.object({
      processed: count.describe('Rows done so far.'),
      total: count.nullable().describe('Rows there are in all; `null` as long as nobody has counted.'),
    }),
    result: taskResult.nullable().describe('The file that `GET /tasks/{task_id}/result` gives, once the task has succeeded.'),
    imported: importCounts.nullable().describe('What an import has done so far, even if it failed or was canceled; `null` for an export.'),
    error: component('TaskError', z.object({ code: z.string().describe('What went wrong, for programs.'), detail: z.string() }))
      .nullable()
      .describe('Why the task failed.'),
    user_id: id.nullable().describe('Who started it; `null`: an application on its own account.'),
    client_id: z.string().describe('The application that started it.'),
    created_at: instant,
    started_at: instant.nullable(),
    finished_at: instant.nullable(),
  }),
);

/** What an operation that starts a task can answer with besides. */
export const startingTask = ['too_many_tasks'] as const;

const taskPath = z.object({ task_id: pathId('Identifier of the task.') });
/** Nobody's word for it: the bytes are passed on as they come. */
const fileContent = z.custom<AsyncIterable<Uint8Array>>();

export const tasks = c.router({
  list: {
    method: 'GET',
    path: '/tasks',
    query: z.object({ ...pageQuery, type: commaList(taskTypes).optional(), status: commaList(taskStatuses).optional() }).strict(),
    summary: 'List tasks',
    description: 'Your own, newest first. A task shows only to tokens that have the scopes it was started with.',
    responses: { 200: page('TaskPage', task), ...fails(...tokenGuarded, ...withCursor) },
    metadata: describedBy({ operationId: 'tasks.list', access: ['tasks.read'] }),
  },
  get: {
    method: 'GET',
    path: '/tasks/:task_id',
    pathParams: taskPath,
    summary: 'Get a task',
    description: 'While it is not finished, `Retry-After` says when to ask again. Kept for 30 days after its end.',
    responses: { 200: task, ...fails(...tokenGuarded, 'not_found', 'gone') },
    metadata: describedBy({ operationId: 'tasks.get', access: ['tasks.read'] }),
  },
  result: {
    method: 'GET',
    path: '/tasks/:task_id/result',
    pathParams: taskPath,
    summary: 'Fetch the result of a task',
    description: 'The file, for 7 days after the end of the task. There is no link that works without a token.',
    responses: {
      200: c.otherResponse({ contentType: fileMediaTypes.csv, body: fileContent }),
      ...fails(...tokenGuarded, 'not_found', 'task_not_finished', 'gone'),
    },
    metadata: describedBy({ operationId: 'tasks.result', access: ['tasks.read'], produces: Object.values(fileMediaTypes) }),
  },
  cancel: {
    method: 'POST',
    path: '/tasks/:task_id/cancellation',
    pathParams: taskPath,
    headers: idempotencyHeaders,
    body: c.noBody(),
    summary: 'Cancel a task',
    description: 'What an import has written by then stays, and `imported` of the returned task counts it; nothing follows.',
    responses: { 202: task, ...fails(...tokenGuarded, ...withBody, ...withIdempotencyKey, 'not_found', 'gone', 'invalid_transition') },
    metadata: describedBy({ operationId: 'tasks.cancel', access: ['tasks.write'], idempotent: true }),
  },
});
export type Task = z.output<typeof task>;
export type TaskResult = z.output<typeof taskResult>;
export type ImportCounts = z.output<typeof importCounts>;
export type TaskType = (typeof taskTypes)[number];
