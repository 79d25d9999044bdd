import { type EntityData, type FilterQuery, type InferEntity, sql } from '@mikro-orm/core';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { deleteStoredFile } from './stored-task-file.ts';
import { taskRetentionDays } from './task-from-entity.ts';
import { Task } from './task-and-task-file.entity.ts';
import { findUnusedTaskFileIds } from './find-unused-task-file-ids.ts';

type TaskEntity = InferEntity<typeof Task>;
type DataDeletion = { readonly where: FilterQuery<TaskEntity>; readonly values: EntityData<TaskEntity> };

const finishedBefore = (days: number) => ({ $lte: sql`now() - make_interval(days => ${days})` });

// Task rows are kept without personal data, so that an expired task (410) can be distinguished from a task that never existed (404).
const dataDeletions: readonly (() => DataDeletion)[] = [
  () => ({ where: { finishedAt: finishedBefore(taskRetentionDays.result), output: { $ne: null } }, values: { output: null } }),
  () => ({
    where: { finishedAt: finishedBefore(taskRetentionDays.task), [sql`params <> '{}'`]: [] },
    values: { params: {}, result: null, error: null, imported: null },
  }),
  () => ({ where: { finishedAt: { $ne: null }, input: { $ne: null } }, values: { input: null } }),
];

const batchSize = 100;

async function deleteData(em: EntityManager, { where, values }: DataDeletion): Promise<number> {
  const found = await em.find(Task, where, { fields: ['id'], limit: batchSize, disableIdentityMap: true });
  if (found.length > 0) await em.nativeUpdate(Task, { id: { $in: found.map(({ id }) => id) } }, values);
  return found.length;
}

async function deleteUnusedFiles(em: EntityManager): Promise<number> {
  const files = await findUnusedTaskFileIds(em, batchSize);
  for (const id of files) await deleteStoredFile(em, id);
  return files.length;
}

/**
 * Deletes one batch of each kind of data (expired results, expired task data, input files and unused files). Returns the number of changes;
 * 0 means that nothing is left to delete.
 */
export async function clearExpiredTaskDataBatch(em: EntityManager): Promise<number> {
  let count = 0;
  for (const deletion of dataDeletions) count += await deleteData(em, deletion());
  return count + (await deleteUnusedFiles(em));
}
