import { freshPostgresqlUrl } from './database.ts';
import { openDatabase, type Database } from '../../server/database/orm.ts';
import { openFront } from './front.ts';
import { openLoggedMailbox } from './mailbox.ts';
import { freePort } from './free-port.ts';
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
  close(): Promise<void>;
};

/** Two server processes on one PostgreSQL, behind one address. */
export async function startTwoProcesses(dataDirectory: string, more: Readonly<Record<string, string>> = {}): Promise<TwoProcesses> {
  const url = await freshPostgresqlUrl();
  const front = await openFront(await freePort());
  const env = { DATABASE_URL: url, MANDATE_ISSUER: front.url, MANDATE_DATA_DIR: dataDirectory, MANDATE_SECRET: 'x'.repeat(43), ...more };
  const first = await startServer(env); // alone, so that it makes the demonstration shop
  const second = await startServer(env);
  const ports = [first, second].map((one) => Number(new URL(one.url).port));
  front.lead(ports);
  openLoggedMailbox(front.url, () => first.output() + second.output());
  const db = await openDatabase(url);
  return {
    origin: front.url,
    processes: [first, second],
    db,
    env,
    only: (which) => front.lead(ports.slice(which, which + 1)),
    output: () => first.output() + second.output(),
    async close() {
      await front.close();
      await Promise.all([first.stop(), second.stop()]);
      await db.close();
    },
  };
}
