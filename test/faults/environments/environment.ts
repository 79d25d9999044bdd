import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../support/network/free-port.ts';
import { openFront, type Front } from '../../support/network/load-balancer.ts';
import { MortalServer } from '../../support/server/killable-server.ts';
import { administer } from '../../support/services/postgresql-databases.ts';
import {
  findPostgresql,
  startPostgresql,
  type PostgresqlOptions,
  type PostgresqlServer,
} from '../../support/services/postgresql-server.ts';
import { temporaryDataDirectory } from '../../support/server/server-process.ts';

/** Servers behind one address, their database, and whoever else stands around. */
export class Stage implements AsyncDisposable {
  readonly front: Front;
  readonly dataDirectory: string;
  readonly servers: readonly MortalServer[];
  /** Where callers of the API go: to the front, unless something stands in between. */
  entrance: string;
  /** Where the servers disagree about what time it is, what one gave out has expired for another. */
  readonly clocks: 'one' | 'several' = 'one';
  readonly #closing: (() => Promise<unknown>)[];

  constructor(parts: StageParts) {
    this.front = parts.front;
    this.entrance = parts.front.url;
    this.dataDirectory = parts.dataDirectory;
    this.servers = parts.servers;
    this.#closing = [...parts.closing];
  }

  /** What is to be ended with it, before everything else. */
  alsoClose(close: () => Promise<unknown>): void {
    this.#closing.unshift(close);
  }

  /** One statement beside the servers. */
  async sql(_text: string): Promise<readonly object[]> {
    throw new Error('there is nobody to ask');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closing) await close();
  }
}

export type StageParts = {
  readonly front: Front;
  readonly dataDirectory: string;
  readonly servers: readonly MortalServer[];
  readonly closing: readonly (() => Promise<unknown>)[];
};

const unlimited = {
  MANDATE_RATE_LIMIT: '1000000000',
  MANDATE_RATE_LIMIT_API_KEY: '1000000000',
  MANDATE_RATE_LIMIT_IP: '1000000000',
  MANDATE_MONTHLY_QUOTA: '1000000000',
};

/** A spent refresh token is refused at once, so that the audit need not wait. */
const noGrace = { MANDATE_REFRESH_GRACE_SECONDS: '0' };

/**
 * So many servers, the first of them alone at first, so that it makes the demonstration shop. `env`: of the n-th, counted from 0.
 * @param given the directory for their data (default: a temporary one), which is removed with the servers
 */
export async function startServers(
  count: number,
  env: (nth: number) => Readonly<Record<string, string>>,
  given?: AsyncDisposable & { readonly path: string },
): Promise<StageParts> {
  const directory = given ?? (await temporaryDataDirectory());
  const front = await openFront(await freePort());
  const shared = { MANDATE_DATA_DIR: directory.path, MANDATE_ISSUER: front.url, MANDATE_SECRET: 'x'.repeat(43), ...unlimited, ...noGrace };
  const servers: MortalServer[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const server = new MortalServer({ ...shared, PORT: String(await freePort()), ...env(nth) });
    await server.live();
    servers.push(server);
  }
  front.lead(servers.map(({ env: { PORT } }) => Number(PORT)));
  const closing = [
    () => front.close(),
    () => Promise.all(servers.map((server) => server.die())),
    async () => directory[Symbol.asyncDispose](),
  ];
  return { front, dataDirectory: directory.path, servers, closing };
}

/** On a PostgreSQL that keeps what it has confirmed. */
export class PostgresqlStage extends Stage {
  /** Changes when another takes its place. */
  postgresql: PostgresqlServer;

  constructor(parts: StageParts, postgresql: PostgresqlServer) {
    super(parts);
    this.postgresql = postgresql;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.postgresql.stop();
  }

  override sql(text: string): Promise<readonly object[]> {
    return administer(this.postgresql.url, text);
  }
}

export const startDurablePostgresql = async (options: PostgresqlOptions = {}): Promise<PostgresqlServer> =>
  startPostgresql(await findPostgresql(), { durable: true, ...options });

/** Tries until it does, for so many seconds; gives how often it failed. */
export async function eventually(what: () => Promise<unknown>, seconds: number): Promise<number> {
  for (const end = Date.now() + seconds * 1000, failures = { count: 0 }; ; failures.count += 1) {
    try {
      await what();
      return failures.count;
    } catch (error) {
      if (Date.now() > end) throw error;
      await sleep(100);
    }
  }
}
