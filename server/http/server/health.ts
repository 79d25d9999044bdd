import type { ServerResponse } from 'node:http';
import type { Database } from '../../database/entity-manager/entity-manager.ts';
import { storageReserveBytes, type StorageReserve } from '../../database/storage/storage-reserve.ts';

/** Answers whoever watches the process, and says whether it did. */
export type Health = (url: string | undefined, res: ServerResponse) => boolean;

const answerMaxMs = 2_000;

/**
 * `/healthz`: the process runs, and need not be started again. `/readyz`: it can work, for its database answers, and goes on, for it
 * has not been asked to stop. Neither is counted, limited or logged, nor waits behind the requests of others.
 * @param stopping aborted when it has been asked to stop
 */
export const health =
  (db: Database, stopping: AbortSignal, storage?: StorageReserve): Health =>
  (url, res) => {
    if (url === '/healthz') write(res);
    else if (url === '/readyz' && stopping.aborted) write(res, 'it was asked to stop');
    else if (url === '/readyz')
      void answersInTime(db).then((ready) => (ready ? writeReady(res, storage) : write(res, 'the database does not answer')));
    else return false;
    return true;
  };

function answersInTime(db: Database): Promise<boolean> {
  const answers = db.em
    .fork()
    .execute('select 1')
    .then(
      () => true,
      () => false,
    );
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), answerMaxMs);
  });
  return Promise.race([answers, tooLate]).finally(() => clearTimeout(timer));
}

/** A server that is short of disk space stays ready: it answers reads, and no other process could. */
function writeReady(res: ServerResponse, storage?: StorageReserve): void {
  if (!storage?.isLow()) write(res);
  else send(res, 200, `ok, but writes are refused: less than ${storageReserveBytes / 1024 / 1024} MB of disk space are free`);
}

function write(res: ServerResponse, fault?: string): void {
  send(res, fault === undefined ? 200 : 503, fault ?? 'ok');
}

function send(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' });
  res.end(`${text}\n`);
}
