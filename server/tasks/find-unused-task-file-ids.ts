import { sql } from '@mikro-orm/core';
import { z } from 'zod';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { Task, TaskFile } from './task-and-task-file.entity.ts';

/**
 * Returns the IDs of up to `limit` stored files that no task uses. Unused files are uploads whose request failed before the task was
 * created, partial outputs of canceled tasks, and partitions of imported files.
 */
export async function findUnusedTaskFileIds(em: EntityManager, limit: number): Promise<number[]> {
  // Checkpoints are read before outputs, so that the file of a task that finishes in the meantime is not considered unused.
  const unfinished = await em.find(Task, { status: { $in: ['queued', 'running'] } }, { fields: ['checkpoint'], disableIdentityMap: true });
  const usedByCheckpoints = unfinished.flatMap(({ checkpoint }) => filesOfCheckpoint(checkpoint));
  const outputs = em.createQueryBuilder(Task).select('output');
  const inputs = em.createQueryBuilder(Task).select('input');
  const unused = {
    createdAt: { $lt: sql`now() - interval '1 day'` },
    $and: [
      { id: { $nin: usedByCheckpoints } },
      { id: { $nin: outputs.where({ output: { $ne: null } }).toRaw() } },
      { id: { $nin: inputs.where({ input: { $ne: null } }).toRaw() } },
    ],
  };
  return (await em.find(TaskFile, unused, { limit, disableIdentityMap: true })).map(({ id }) => id);
}

const checkpointSchema = z.object({ fileId: z.number().nullish(), partitions: z.array(z.number()).nullish() }).nullish();

/** Returns the output file that a task is writing, and the partitions of its input file. */
function filesOfCheckpoint(checkpoint: unknown): number[] {
  const { fileId, partitions } = checkpointSchema.parse(checkpoint) ?? {};
  return [...(fileId == null ? [] : [fileId]), ...(partitions ?? [])];
}
