import { defineEntity, p } from '@mikro-orm/core';
import { type Scope, taskStatuses, taskTypes, type Task as TaskBody, type TaskResult } from '@mandate/contract';
import { User } from '../users/user.entity.ts';

/** An input or output file of a task, stored in the database, which every process can access. */
export const TaskFile = defineEntity({
  name: 'TaskFile',
  tableName: 'task_files',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
  indexes: [{ name: 'task_files_created', properties: ['createdAt'] }],
});

export const TaskFileChunk = defineEntity({
  name: 'TaskFileChunk',
  tableName: 'task_file_chunks',
  properties: {
    file: p.manyToOne(TaskFile).mapToPk().primary().deleteRule('cascade').updateRule('no action'),
    position: p.integer().primary(),
    content: p.blob().check('length(content) >= 1 and length(content) <= 1048576'),
  },
});

/**
 * A task is work that continues after the server has responded to the request that started the task. The table is also the task queue. A
 * task is run by the process that holds the lease on its row.
 */
export const Task = defineEntity({
  name: 'Task',
  tableName: 'tasks',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    type: p.enum(taskTypes),
    status: p.enum(taskStatuses).default('queued'),
    /** The owner of the task, which is the user (regardless of the client) or a client that acts on its own behalf. */
    owner: p.text(),
    user: p.manyToOne(User).mapToPk().nullable().deleteRule('no action').updateRule('no action'),
    clientId: p.text(),
    /** Scopes that a token must have to see the task. */
    needs: p.array<Scope>(),
    params: p.json<TaskBody['params']>(),
    input: p.manyToOne(TaskFile).mapToPk().nullable().deleteRule('no action').updateRule('no action'),
    output: p.manyToOne(TaskFile).mapToPk().nullable().deleteRule('no action').updateRule('no action'),
    /** Progress, in a format that depends on the task type. After a crash, the task resumes from this progress. */
    checkpoint: p.json<object>().nullable(),
    processed: p.bigint('number').default(0).check('processed >= 0'),
    total: p.bigint('number').nullable(),
    result: p.json<Omit<TaskResult, 'expires_at'>>().nullable(),
    error: p.json<TaskBody['error']>().nullable(),
    /** Import counts so far. The counts are kept if the import fails or is canceled. */
    imported: p.json<TaskBody['imported']>().nullable(),
    /** End of the lease; until then, no other process can claim the task. */
    leaseUntil: p.datetime(3).defaultRaw('now()'),
    /** Number of leases so far. This number is the fencing token, so the holder of an older lease can no longer change the task. */
    attempts: p.integer().default(0),
    createdAt: p.datetime(3).defaultRaw('now()'),
    startedAt: p.datetime(3).nullable(),
    finishedAt: p.datetime(3).nullable(),
  },
  checks: [
    { name: 'tasks_finished', expression: `(finished_at is not null) = (status in ('succeeded', 'failed', 'canceled'))` },
    { name: 'tasks_result', expression: `(result is not null) <= (status = 'succeeded')` },
  ],
  indexes: [
    { name: 'tasks_ready', properties: ['leaseUntil'], where: `status in ('queued', 'running')` },
    { name: 'tasks_owner_created', properties: ['owner', 'createdAt', 'id'] },
    { name: 'tasks_finished_at', properties: ['finishedAt'], where: 'finished_at is not null' },
  ],
});
