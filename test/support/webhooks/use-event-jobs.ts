import { afterAll, beforeAll } from 'vitest';
import type { RunningServer } from '../server/use-server.ts';
import { startEventJobs } from './event-jobs.ts';

/** Runs the jobs that sequence and deliver events during the tests of a file. */
export function useEventJobs(server: Pick<RunningServer, 'db'>): void {
  let stop: (() => Promise<void>) | undefined;
  beforeAll(() => {
    stop = startEventJobs(server.db);
  });
  afterAll(() => stop?.());
}
