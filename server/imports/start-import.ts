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

type Start = Omit<TaskStart, 'inputId' | 'params'> & { readonly query: TaskStart['params'] };

/** Keeps the uploaded file, and starts the task that imports it. The file is stored before the transaction: it may take minutes. */
export async function startImport(em: Em, req: RoutedRequest & Readable, res: Response, { type, needs, query }: Start) {
  const { fileId, sha256, format } = await storeUpload(em, req);
  // A column that is called like its field is nothing that was asked for.
  const asked = Object.entries(query).filter(([name, value]) => name !== `${String(value)}_column`);
  const params = { ...Object.fromEntries(asked), format };
  const start = (inner: Em): Promise<Task> => startTask(inner, principalOf(req), { type, params, needs, inputId: fileId });
  return onceAccepted(em, req, res, start, taskLocation, { ...params, sha256 }).catch(async (error: unknown) => {
    await removeStoredFile(em, fileId);
    throw error;
  });
}
