import type { ServerResponse } from 'node:http';
import type { Database } from '../database/orm.ts';

/** Answers whoever watches the process, and says whether it did. */
export type Health = (url: string | undefined, res: ServerResponse) => boolean;

const answerMaxMs = 2_000;

/**
 * `/healthz`: the process runs, and need not be started again. `/readyz`: it can work, for its database answers, and goes on, for it
 * has not been asked to stop. Neither is counted, limited or logged, nor waits behind the requests of others.
 * @param stopping aborted when it has been asked to stop
 */
export const health =
  (db: Database, stopping: AbortSignal): Health =>
  (url, res) => {
    if (url === '/healthz') write(res);
    else if (url === '/readyz' && stopping.aborted) write(res, 'it was asked to stop');
    else if (url === '/readyz') void answersInTime(db).then((ready) => write(res, ready ? undefined : 'the database does not answer'));
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

function write(res: ServerResponse, fault?: string): void {
  res.writeHead(fault === undefined ? 200 : 503, { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' });
  res.end(`${fault ?? 'ok'}\n`);
}
