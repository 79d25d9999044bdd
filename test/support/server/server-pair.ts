import type { IncomingMessage, ServerResponse } from 'node:http';
import { createMigratedPostgresqlUrl } from '../services/database.ts';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { startLoadBalancer } from '../network/load-balancer.ts';
import { openLoggedMailbox } from '../services/mailbox.ts';
import { findFreePort } from '../network/free-port.ts';
import { testServerSecret } from './test-server-secret.ts';
import { startServerProcess, type ServerProcess } from './server-process.ts';

export type ServerPair = {
  /** URL of the load balancer, which sends requests to both processes alternately. */
  readonly origin: string;
  readonly processes: readonly [ServerProcess, ServerProcess];
  readonly db: Database;
  readonly env: Readonly<Record<string, string>>;
  /** Sends all subsequent requests to this process. */
  routeToProcess(which: 0 | 1): void;
  /** Returns the output of both processes. */
  output(): string;
  /** Stops both processes and leaves the database open. */
  stop(): Promise<void>;
  close(): Promise<void>;
};

/** Starts two server processes with demonstration data on the same PostgreSQL database, behind a load balancer. */
export async function startServerPair(dataDirectory: string, environment: Readonly<Record<string, string>> = {}): Promise<ServerPair> {
  const pair = await startPair(dataDirectory, environment, {
    // the processes start sequentially, because the first process creates the demonstration data
    start: async (server) => [await server(), await server()],
  });
  openLoggedMailbox(pair.origin, () => pair.output());
  return pair;
}

/**
 * Starts two server processes with an empty database and without background jobs, because API tests run the jobs themselves.
 * @param inspect is called with every request and its response object, before the request is forwarded
 * @param onLogLine receives every log line of both processes
 */
export function startEmptyServerPair(
  dataDirectory: string,
  environment: Readonly<Record<string, string>>,
  inspect: (req: IncomingMessage, res: ServerResponse) => void,
  onLogLine: (line: string) => void,
): Promise<ServerPair> {
  return startPair(
    dataDirectory,
    { MANDATE_ROLE: 'web', ...environment },
    {
      inspect,
      onLogLine,
      async start(server, db) {
        // the server creates no demonstration data if a user exists
        await db.em.execute(
          `insert into users (id, name, email, role, version) overriding system value values (0, 'Nobody', 'nobody@users.invalid', 'admin', 1)`,
        );
        const pair = await Promise.all([server(), server()]);
        await db.em.execute('delete from users where id = 0');
        return pair;
      },
    },
  );
}

type PairOptions = {
  readonly inspect?: (req: IncomingMessage, res: ServerResponse) => void;
  readonly onLogLine?: (line: string) => void;
  readonly start: (server: () => Promise<ServerProcess>, db: Database) => Promise<[ServerProcess, ServerProcess]>;
};

async function startPair(
  dataDirectory: string,
  environment: Readonly<Record<string, string>>,
  { inspect, onLogLine, start }: PairOptions,
): Promise<ServerPair> {
  const url = await createMigratedPostgresqlUrl();
  const loadBalancer = await startLoadBalancer(await findFreePort(), inspect);
  const env = {
    DATABASE_URL: url,
    MANDATE_ISSUER: loadBalancer.url,
    MANDATE_DATA_DIR: dataDirectory,
    MANDATE_SECRET: testServerSecret,
    ...environment,
  };
  const db = await openDatabaseWithoutMigrating(url);
  const processes = await start(() => startServerProcess(env, undefined, undefined, onLogLine), db);
  const [first, second] = processes;
  const ports = processes.map((server) => Number(new URL(server.url).port));
  loadBalancer.setPorts(ports);
  const output = (): string => first.output() + second.output();
  const stop = async (): Promise<void> => {
    await loadBalancer.close();
    await Promise.all([first.stop(), second.stop()]);
  };
  return {
    origin: loadBalancer.url,
    processes,
    db,
    env,
    routeToProcess: (which) => loadBalancer.setPorts(ports.slice(which, which + 1)),
    output,
    stop,
    async close() {
      await stop();
      await db.close();
    },
  };
}
