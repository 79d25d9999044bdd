import { initContract, type ContractOtherResponse } from '@ts-rest/core';
import { z } from 'zod';
import { withSchemaName } from '../../schema/openapi-schema-name.ts';
import { idSchema, pathIdSchema } from '../../schema/ids.ts';
import { extensibleEnumSchema } from '../../schema/extensible-enum.ts';
import { commaSeparatedEnumSchema, listPageSchema, paginationParameters } from '../../schema/pagination.ts';
import {
  commonProblemTypes,
  declareProblemResponses,
  problemCodesOfAuthenticatedOperations,
  bodyProblemCodes,
  cursorProblemCodes,
  idempotencyProblemCodes,
} from '../../protocol/problems.ts';
import { defineResource } from '../../protocol/define-resource.ts';
import { declareRouteMetadata, idempotencyHeadersSchema } from '../../protocol/route-metadata.ts';
import { timestampSchema } from '../../schema/text-timestamp-and-metadata-schemas.ts';

const c = initContract();

export const taskProblemTypes = {
  too_many_tasks: { status: 409, title: 'Too many concurrent tasks' },
  task_not_finished: { status: 409, title: 'The task is not finished' },
  gone: { status: 410, title: 'No longer available' },
} as const;

const fails = declareProblemResponses({ ...commonProblemTypes, ...taskProblemTypes });

export const taskTypes = [
  ...(['order_export', 'order_import', 'product_import', 'user_export', 'user_import'] as const),
  ...(['backup', 'backup_check'] as const),
] as const;
export const taskStatuses = ['queued', 'running', 'succeeded', 'failed', 'canceled'] as const;
export const fileFormats = ['csv', 'ndjson'] as const;
/** Format of an exported file. */
export const exportFormatSchema = z
  .enum(fileFormats)
  .default('csv')
  .describe('File format. `csv`: RFC 4180 with a header row. `ndjson`: one JSON object per line.');
/** Media types for the file formats. */
export const fileMediaTypes = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;
/** Maximum number of queued and running tasks per owner. */
export const maxUnfinishedTasksPerOwner = 2;

const count = z.number().int().min(0);

const importCounts = z.object({
  created: count,
  updated: count,
  unchanged: count.describe('Number of orders or rows that were previously imported with the same data.'),
  refused: count.describe('Number of rejected orders or rows, including those counted in `differing`.'),
  differing: count.describe('Number of rejected orders that were previously imported with different data.'),
});

export const taskResultSchema = withSchemaName(
  'TaskResult',
  z.object({
    format: z.enum(fileFormats),
    rows: count.describe('Number of rows in the result file. For an import, the file lists the lines with errors or warnings.'),
    bytes: count,
    sha256: z.string().describe('SHA-256 hash of the file, in hexadecimal.'),
    imported: importCounts.nullable().describe('Number of rows or orders that the import processed, by outcome; `null` for an export.'),
    expires_at: timestampSchema.describe('When the file will be deleted.'),
  }),
);

export const taskSchema = withSchemaName(
  'Task',
  z.object({
    id: idSchema,
    type: extensibleEnumSchema(taskTypes),
    status: z.enum(taskStatuses).describe('`succeeded`, `failed` and `canceled` are final.'),
    params: z
      .record(z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]))
      .describe('Parameters of the request that started the task.'),
    progress: z.object({
      processed: count.describe('Number of rows processed so far.'),
      total: count.nullable().describe('Total number of rows; `null` until they have been counted.'),
    }),
    result: taskResultSchema
      .nullable()
      .describe(
        'The file that `GET /tasks/{task_id}/result` returns; `null` until the task has succeeded, and for backups, which have no result file.',
      ),
    imported: importCounts
      .nullable()
      .describe(
        'Number of rows or orders processed so far, by outcome, even if the import failed or was canceled; `null` for other tasks.',
      ),
    error: withSchemaName('TaskError', z.object({ code: z.string().describe('Machine-readable error code.'), detail: z.string() }))
      .nullable()
      .describe('Why the task failed.'),
    user_id: idSchema.nullable().describe('User who started the task; `null` if an application started it on its own behalf.'),
    client_id: z.string().describe('Client ID of the application that started the task.'),
    created_at: timestampSchema,
    started_at: timestampSchema.nullable(),
    finished_at: timestampSchema.nullable(),
  }),
);

/** Problem codes for operations that start a task. */
export const taskCreationProblemCodes = ['too_many_tasks'] as const;

const taskPath = z.object({ task_id: pathIdSchema('ID of the task.') });
/** The bytes of the file are streamed without validation. */
const fileContent = z.custom<AsyncIterable<Uint8Array>>();
/** This type is an interface, because a declaration file cannot name the private types that `ContractOtherResponse` expands to. */
export interface FileResponse extends ContractOtherResponse<typeof fileContent> {}
const fileResponse: FileResponse = c.otherResponse({ contentType: fileMediaTypes.csv, body: fileContent });

export const taskRoutes = defineResource('Tasks', 'Background tasks, such as exports and imports.', {
  list: {
    method: 'GET',
    path: '/tasks',
    query: z
      .object({
        ...paginationParameters,
        type: commaSeparatedEnumSchema(taskTypes).optional(),
        status: commaSeparatedEnumSchema(taskStatuses).optional(),
      })
      .strict(),
    summary: 'List tasks',
    description:
      'Returns the tasks of the caller, newest first. A task is visible only to tokens that have all the scopes that are required to start it.',
    responses: { 200: listPageSchema('TaskPage', taskSchema), ...fails(...problemCodesOfAuthenticatedOperations, ...cursorProblemCodes) },
    metadata: declareRouteMetadata({ operationId: 'tasks.list', access: ['tasks.read'] }),
  },
  get: {
    method: 'GET',
    path: '/tasks/:task_id',
    pathParams: taskPath,
    summary: 'Get a task',
    description:
      'Returns the state of the task. While the task is not finished, `Retry-After` specifies when to poll again. A task is stored for 30 days after it has finished.',
    responses: { 200: taskSchema, ...fails(...problemCodesOfAuthenticatedOperations, 'not_found', 'gone') },
    metadata: declareRouteMetadata({ operationId: 'tasks.get', access: ['tasks.read'] }),
  },
  result: {
    method: 'GET',
    path: '/tasks/:task_id/result',
    pathParams: taskPath,
    summary: 'Download the result of a task',
    description: 'Returns the result file, which is available for 7 days after the task has finished. The download requires a token.',
    responses: {
      200: fileResponse,
      ...fails(...problemCodesOfAuthenticatedOperations, 'not_found', 'task_not_finished', 'gone'),
    },
    metadata: declareRouteMetadata({ operationId: 'tasks.result', access: ['tasks.read'], produces: Object.values(fileMediaTypes) }),
  },
  cancel: {
    method: 'POST',
    path: '/tasks/:task_id/cancellation',
    pathParams: taskPath,
    headers: idempotencyHeadersSchema,
    body: c.noBody(),
    summary: 'Cancel a task',
    description:
      'Stops the task. Rows that an import has already written are kept and are included in the `imported` count of the returned task.',
    responses: {
      202: taskSchema,
      ...fails(
        ...problemCodesOfAuthenticatedOperations,
        ...bodyProblemCodes,
        ...idempotencyProblemCodes,
        'not_found',
        'gone',
        'invalid_transition',
      ),
    },
    metadata: declareRouteMetadata({ operationId: 'tasks.cancel', access: ['tasks.write'], idempotent: true }),
  },
});
export type Task = z.output<typeof taskSchema>;
export type TaskResult = z.output<typeof taskResultSchema>;
export type ImportCounts = z.output<typeof importCounts>;
export type TaskType = (typeof taskTypes)[number];
