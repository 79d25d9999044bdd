import { defineEntity, p } from '@mikro-orm/core';
import { taskStatuses, taskTypes, type Task as TaskBody } from '@mandate/contract';
import { User } from '../users/user.entity.ts';

/** A file that a task reads or has written, kept where every process reaches it. */
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

/** Work that goes on after the answer. The row is the queue as well: whoever holds its lease works on it. */
export const Task = defineEntity({
  name: 'Task',
  tableName: 'tasks',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    type: p.enum(taskTypes),
    status: p.enum(taskStatuses).default('queued'),
    /** Whose it is: the person, whichever application they used, or an application on its own account. */
    owner: p.text(),
    user: p.manyToOne(User).mapToPk().nullable().deleteRule('no action').updateRule('no action'),
    clientId: p.text(),
    /** What a token must be allowed to do to see it. */
    needs: p.array(),
    params: p.json<TaskBody['params']>(),
    input: p.manyToOne(TaskFile).mapToPk().nullable().deleteRule('no action').updateRule('no action'),
    output: p.manyToOne(TaskFile).mapToPk().nullable().deleteRule('no action').updateRule('no action'),
    /** How far it got, in its own words: from here it goes on after a crash. */
    checkpoint: p.json<object>().nullable(),
    processed: p.bigint('number').default(0).check('processed >= 0'),
    total: p.bigint('number').nullable(),
    result: p.json<TaskBody['result']>().nullable(),
    error: p.json<TaskBody['error']>().nullable(),
    /** Counts of an import so far; kept when it fails or is canceled. */
    imported: p.json<TaskBody['imported']>().nullable(),
    /** Until when nobody else may take it. */
    leaseUntil: p.datetime(3).defaultRaw('now()'),
    /** Counts the leases; whoever holds an older one changes nothing any more. */
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
