import type { Response } from 'express';
import type { Readable } from 'node:stream';
import type { Task } from '@mandate/contract';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { startTaskIdempotently } from '../http/writes/idempotency.ts';
import { requirePrincipal } from '../http/request/request-context-principal-and-access-log.ts';
import type { MatchedRequest } from '../http/request/matched-route.ts';
import { enqueueTask, type NewTask } from '../tasks/enqueue-task.ts';
import { deleteStoredFile } from '../tasks/stored-task-file.ts';
import { getTaskPath } from '../tasks/task-from-entity.ts';
import { storeUpload } from './store-upload.ts';

type ImportStart = Omit<NewTask, 'inputId' | 'params'> & {
  readonly query: NewTask['params'];
  /** Called in the transaction that starts the task. */
  readonly onStarted?: (em: EntityManager, task: Task) => Promise<void>;
};

/**
 * Stores the uploaded file and starts the task that imports it. The file is stored before the transaction, because the upload can take
 * minutes.
 */
export async function storeUploadAndStartImport(
  em: EntityManager,
  req: MatchedRequest & Readable,
  res: Response,
  { type, needs, query, onStarted }: ImportStart,
) {
  const { fileId, sha256, format } = await storeUpload(em, req);
  // Each column is named after its field by default, so a parameter that specifies the default name is not recorded.
  const specified = Object.entries(query).filter(([name, value]) => name !== `${String(value)}_column`);
  const params = { ...Object.fromEntries(specified), format };
  const start = async (inner: EntityManager): Promise<Task> => {
    const task = await enqueueTask(inner, requirePrincipal(req), { type, params, needs, inputId: fileId });
    await onStarted?.(inner, task);
    return task;
  };
  return startTaskIdempotently(em, req, res, start, getTaskPath, { ...params, sha256 }).catch(async (error: unknown) => {
    await deleteStoredFile(em, fileId);
    throw error;
  });
}
