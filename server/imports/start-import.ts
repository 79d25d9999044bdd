import type { Response } from 'express';
import type { Readable } from 'node:stream';
import type { Task } from '@mandate/contract';
import type { Em } from '../database/entity-manager/entity-manager.ts';
import { onceAccepted } from '../http/writes/idempotency.ts';
import { principalOf } from '../http/request/request-context.ts';
import type { RoutedRequest } from '../http/request/matched-route.ts';
import { startTask, type TaskStart } from '../tasks/start-task.ts';
import { removeStoredFile } from '../tasks/stored-file.ts';
import { taskLocation } from '../tasks/task-rows.ts';
import { storeUpload } from './store-upload.ts';

type ImportStart = Omit<TaskStart, 'inputId' | 'params'> & { readonly query: TaskStart['params'] };

/** Stores the uploaded file and starts the task that imports it. The upload may take minutes, so it is stored before the transaction. */
export async function startImport(em: Em, req: RoutedRequest & Readable, res: Response, { type, needs, query }: ImportStart) {
  const { fileId, sha256, format } = await storeUpload(em, req);
  // A column with the same name as its field is the default and not recorded as a parameter.
  const specified = Object.entries(query).filter(([name, value]) => name !== `${String(value)}_column`);
  const params = { ...Object.fromEntries(specified), format };
  const start = (inner: Em): Promise<Task> => startTask(inner, principalOf(req), { type, params, needs, inputId: fileId });
  return onceAccepted(em, req, res, start, taskLocation, { ...params, sha256 }).catch(async (error: unknown) => {
    await removeStoredFile(em, fileId);
    throw error;
  });
}
