import type { ServerResponse } from 'node:http';
import { isDatabaseResponsive } from '../../database/is-database-responsive.ts';
import type { Database } from '../../database/entity-manager/entity-manager-type.ts';
import { diskSpaceReserveBytes, type DiskSpaceMonitor } from '../../database/storage/disk-space-monitor.ts';

/** Responds to a health check. Returns false if the request is not for a health check URL. */
export type HealthHandler = (url: string | undefined, res: ServerResponse) => boolean;

const pingTimeoutMs = 2_000;

/**
 * Creates the handler for `/healthz` (the process is running) and `/readyz` (the database responds and the process is not shutting down).
 * Health checks are not counted, rate limited, logged or queued.
 * @param stopping aborted when shutdown begins
 */
export const createHealthHandler =
  (db: Database, stopping: AbortSignal, storage?: DiskSpaceMonitor): HealthHandler =>
  (url, res) => {
    if (url === '/healthz') sendStatus(res);
    else if (url === '/readyz' && stopping.aborted) sendStatus(res, 'it was asked to stop');
    else if (url === '/readyz')
      void respondsInTime(db).then((ready) => (ready ? writeReady(res, storage) : sendStatus(res, 'the database does not respond')));
    else return false;
    return true;
  };

function respondsInTime(db: Database): Promise<boolean> {
  const responds = isDatabaseResponsive(db);
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), pingTimeoutMs);
  });
  return Promise.race([responds, timeout]).finally(() => clearTimeout(timer));
}

/**
 * Reports the server as ready even when disk space is low, because reads still work, and neither a restart nor another process would help.
 */
function writeReady(res: ServerResponse, storage?: DiskSpaceMonitor): void {
  if (!storage?.isLow()) sendStatus(res);
  else send(res, 200, `ok, but writes are rejected: less than ${diskSpaceReserveBytes / 1024 / 1024} MB of disk space are free`);
}

function sendStatus(res: ServerResponse, failure?: string): void {
  send(res, failure === undefined ? 200 : 503, failure ?? 'ok');
}

function send(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' });
  res.end(`${text}\n`);
}
