import { afterAll, beforeAll, beforeEach } from 'vitest';
import { z } from 'zod';
import { startMandateServer, type ApiServer, type MandateServer } from './start-mandate.ts';
import type { StartOptions } from './start-options.ts';
import { isEnvironmentOption, requireOneProcess } from './process-mode.ts';

export type RunningServer = ApiServer & {
  /** Log lines at level `warning` or higher. */
  readonly warnings: readonly string[];
};

const logLine = z.object({ level: z.number() });
const warning = 40;

/**
 * Starts Mandate with a new database, shared by all tests in a file or `describe` block. The warnings of a failed test are printed.
 * `store` replaces the token store, to test failures.
 */
export function useServer(options: StartOptions = {}): RunningServer {
  const warnings: string[] = [];
  let mandate: MandateServer | undefined;
  const running = (): MandateServer => {
    if (!mandate) throw new Error('the server has not started');
    return mandate;
  };
  const localOptions = Object.keys(options).filter((name) => name !== 'onLogLine' && !isEnvironmentOption(name));
  if (localOptions.length > 0) requireOneProcess(`the tests use the options ${localOptions.join(', ')}`);
  beforeAll(async () => {
    const onLogLine = (line: string): void => {
      if (logLine.parse(JSON.parse(line)).level >= warning) warnings.push(line);
    };
    mandate = await startMandateServer({ onLogLine, ...options });
  });
  beforeEach(({ onTestFailed }) => {
    const warningsBeforeTest = warnings.length;
    onTestFailed(() => void process.stderr.write(warnings.slice(warningsBeforeTest).join('')));
  });
  afterAll(() => mandate?.close());
  return {
    warnings,
    get origin() {
      return running().origin;
    },
    get db() {
      return running().db;
    },
    callApi: (method, path, call) => running().callApi(method, path, call),
  };
}

/** Sends `GET /api/v1/users/me` with this token and returns the response status. */
export const fetchApiStatus = async ({ origin }: Pick<RunningServer, 'origin'>, token: string): Promise<number> =>
  (await fetch(`${origin}/api/v1/users/me`, { headers: { authorization: `Bearer ${token}` } })).status;
