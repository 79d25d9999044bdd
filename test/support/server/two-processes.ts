import type { IncomingMessage, ServerResponse } from 'node:http';
import { freshPostgresqlUrl } from '../services/database.ts';
import { openDatabase } from '../../../server/schema/open-database.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager.ts';
import { openFront } from '../network/load-balancer.ts';
import { openLoggedMailbox } from '../services/mailbox.ts';
import { freePort } from '../network/free-port.ts';
import { secretOfTests } from '../oauth/secret-hash.ts';
import { startServer, type ServerProcess } from './server-process.ts';

export type TwoProcesses = {
  /** One address for both: each request goes to the other process than the one before. */
  readonly origin: string;
  readonly processes: readonly [ServerProcess, ServerProcess];
  readonly db: Database;
  readonly env: Readonly<Record<string, string>>;
  /** Leads every request to one of them, for when the other is not to be met. */
  only(which: 0 | 1): void;
  /** Everything they wrote, to either output. */
  output(): string;
  /** Stops both, and leaves the database open. */
  stop(): Promise<void>;
  close(): Promise<void>;
};

/** Two server processes on one PostgreSQL, behind one address, with the demonstration shop. */
export async function startTwoProcesses(dataDirectory: string, more: Readonly<Record<string, string>> = {}): Promise<TwoProcesses> {
  const pair = await startPair(dataDirectory, more, {
    // alone, so that it makes the demonstration shop
    start: async (server) => [await server(), await server()],
  });
  openLoggedMailbox(pair.origin, () => pair.output());
  return pair;
}

/**
 * The same with an empty database, as the tests of the API expect it, and without work in the background: they do that themselves.
 * @param inspect is shown every request and its answer
 * @param onLogLine is told each line of their logs
 */
export function startEmptyPair(
  dataDirectory: string,
  more: Readonly<Record<string, string>>,
  inspect: (req: IncomingMessage, res: ServerResponse) => void,
  onLogLine: (line: string) => void,
): Promise<TwoProcesses> {
  return startPair(
    dataDirectory,
    { MANDATE_ROLE: 'web', ...more },
    {
      inspect,
      onLogLine,
      async start(server, db) {
        // somebody is there already: so the first start has nothing to prepare
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

type Manner = {
  readonly inspect?: (req: IncomingMessage, res: ServerResponse) => void;
  readonly onLogLine?: (line: string) => void;
  readonly start: (server: () => Promise<ServerProcess>, db: Database) => Promise<[ServerProcess, ServerProcess]>;
};

async function startPair(
  dataDirectory: string,
  more: Readonly<Record<string, string>>,
  { inspect, onLogLine, start }: Manner,
): Promise<TwoProcesses> {
  const url = await freshPostgresqlUrl();
  const front = await openFront(await freePort(), inspect);
  const env = { DATABASE_URL: url, MANDATE_ISSUER: front.url, MANDATE_DATA_DIR: dataDirectory, MANDATE_SECRET: secretOfTests, ...more };
  const db = await openDatabase(url);
  const processes = await start(() => startServer(env, undefined, undefined, onLogLine), db);
  const [first, second] = processes;
  const ports = processes.map((one) => Number(new URL(one.url).port));
  front.lead(ports);
  const output = (): string => first.output() + second.output();
  const stop = async (): Promise<void> => {
    await front.close();
    await Promise.all([first.stop(), second.stop()]);
  };
  return {
    origin: front.url,
    processes,
    db,
    env,
    only: (which) => front.lead(ports.slice(which, which + 1)),
    output,
    stop,
    async close() {
      await stop();
      await db.close();
    },
  };
}
