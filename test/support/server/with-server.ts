import { afterAll, beforeAll } from 'vitest';
import { z } from 'zod';
import type { AppOptions } from '../../../server/app/app.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager.ts';
import { startMandate, type Mandate } from './start-mandate.ts';
import { isEnvironment, needsOneProcess } from './process-mode.ts';

export type RunningServer = {
  readonly origin: string;
  readonly db: Database;
  /** What it logged: nothing, unless something broke. */
  readonly failures: readonly string[];
};

const logLine = z.object({ level: z.number() });
const warning = 40;

/** The whole server with a database of its own, for the tests of a file. `store`: another way of keeping tokens, to see it fail. */
export function useServer(
  given: Pick<
    AppOptions,
    'store' | 'limits' | 'canMail' | 'openRegistration' | 'documentNetwork' | 'lastUse' | 'onTokenOperation' | 'refreshGraceSeconds'
  > = {},
): RunningServer {
  const failures: string[] = [];
  let mandate: Mandate | undefined;
  const running = (): Mandate => {
    if (!mandate) throw new Error('the server has not started');
    return mandate;
  };
  const beyond = Object.keys(given).filter((name) => !isEnvironment(name));
  if (beyond.length > 0) needsOneProcess(`is given ${beyond.join(', ')}`);
  beforeAll(async () => {
    const onLogLine = (line: string): void => {
      if (logLine.parse(JSON.parse(line)).level >= warning) failures.push(line);
    };
    mandate = await startMandate({ onLogLine, ...given });
  });
  afterAll(() => mandate?.close());
  return {
    failures,
    get origin() {
      return running().origin;
    },
    get db() {
      return running().db;
    },
  };
}

/** What the API says to a token: the status of `GET /api/v1/users/me`. */
export const apiStatus = async ({ origin }: Pick<RunningServer, 'origin'>, token: string): Promise<number> =>
  (await fetch(`${origin}/api/v1/users/me`, { headers: { authorization: `Bearer ${token}` } })).status;
