import { afterAll, beforeAll } from 'vitest';
import { z } from 'zod';
import type { AppOptions } from '../../../server/app/app.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager.ts';
import { startMandateServer, type MandateServer } from './start-mandate.ts';
import { isEnvironmentOption, requireOneProcess } from './process-mode.ts';

export type RunningServer = {
  readonly origin: string;
  readonly db: Database;
  /** Log lines with level warning or higher. */
  readonly warnings: readonly string[];
};

const logLine = z.object({ level: z.number() });
const warning = 40;

/** Starts Mandate with a new database, shared by all tests in a file. `store` replaces the token store, to test failures. */
export function useServer(
  options: Pick<
    AppOptions,
    'store' | 'limits' | 'canMail' | 'openRegistration' | 'documentNetwork' | 'lastUse' | 'onTokenOperation' | 'refreshGraceSeconds'
  > = {},
): RunningServer {
  const failures: string[] = [];
  let mandate: MandateServer | undefined;
  const running = (): MandateServer => {
    if (!mandate) throw new Error('the server has not started');
    return mandate;
  };
  const localOptions = Object.keys(options).filter((name) => !isEnvironmentOption(name));
  if (localOptions.length > 0) requireOneProcess(`uses the options ${localOptions.join(', ')}`);
  beforeAll(async () => {
    const onLogLine = (line: string): void => {
      if (logLine.parse(JSON.parse(line)).level >= warning) failures.push(line);
    };
    mandate = await startMandateServer({ onLogLine, ...options });
  });
  afterAll(() => mandate?.close());
  return {
    warnings: failures,
    get origin() {
      return running().origin;
    },
    get db() {
      return running().db;
    },
  };
}

/** Sends `GET /api/v1/users/me` with this token and returns the response status. */
export const fetchApiStatus = async ({ origin }: Pick<RunningServer, 'origin'>, token: string): Promise<number> =>
  (await fetch(`${origin}/api/v1/users/me`, { headers: { authorization: `Bearer ${token}` } })).status;
