import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../support/network/free-port.ts';
import { startLoadBalancer, type LoadBalancer } from '../../support/network/load-balancer.ts';
import { KillableServer } from '../../support/server/killable-server.ts';
import { runAdminSql } from '../../support/services/postgresql-databases.ts';
import {
  findPostgresql,
  startPostgresql,
  type PostgresqlOptions,
  type PostgresqlServer,
} from '../../support/services/postgresql-server.ts';
import { createDataDirectory } from '../../support/server/server-process.ts';

/** Servers behind a load balancer, with their database and the scenario's other services. */
export class FaultEnvironment implements AsyncDisposable {
  readonly loadBalancer: LoadBalancer;
  readonly dataDirectory: string;
  readonly servers: readonly KillableServer[];
  /** URL for API requests: the load balancer, or a proxy in front of it. */
  clientUrl: string;
  /**
   * Whether the servers' clocks are independent. If so, a token that is valid on the issuing server may already have expired on another
   * server.
   */
  readonly clocks: 'synchronized' | 'independent' = 'synchronized';
  readonly #closing: (() => Promise<unknown>)[];

  constructor(parts: EnvironmentParts) {
    this.loadBalancer = parts.loadBalancer;
    this.clientUrl = parts.loadBalancer.url;
    this.dataDirectory = parts.dataDirectory;
    this.servers = parts.servers;
    this.#closing = [...parts.closing];
  }

  /** Registers a function that runs before the rest of the environment is stopped. */
  onClose(close: () => Promise<unknown>): void {
    this.#closing.unshift(close);
  }

  /** Runs a statement on a connection separate from the servers. */
  async sql(_text: string): Promise<readonly object[]> {
    throw new Error('this environment cannot run SQL');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closing) await close();
  }
}

export type EnvironmentParts = {
  readonly loadBalancer: LoadBalancer;
  readonly dataDirectory: string;
  readonly servers: readonly KillableServer[];
  readonly closing: readonly (() => Promise<unknown>)[];
};

const noRateLimits = {
  MANDATE_RATE_LIMIT: '1000000000',
  MANDATE_RATE_LIMIT_API_KEY: '1000000000',
  MANDATE_RATE_LIMIT_IP: '1000000000',
  MANDATE_MONTHLY_QUOTA: '1000000000',
};

/** Makes servers reject a used refresh token immediately, so that the audit need not wait for the grace period. */
const noRefreshGracePeriod = { MANDATE_REFRESH_GRACE_SECONDS: '0' };

/**
 * Starts `count` servers. The first server starts alone, because it creates the demonstration shop.
 * @param env returns the environment variables for the server with the given index
 * @param given the servers' data directory, deleted when they stop (default: a temporary directory)
 */
export async function startServers(
  count: number,
  env: (nth: number) => Readonly<Record<string, string>>,
  given?: AsyncDisposable & { readonly path: string },
): Promise<EnvironmentParts> {
  const directory = given ?? (await createDataDirectory());
  const loadBalancer = await startLoadBalancer(await findFreePort());
  const shared = {
    MANDATE_DATA_DIR: directory.path,
    MANDATE_ISSUER: loadBalancer.url,
    MANDATE_SECRET: 'x'.repeat(43),
    ...noRateLimits,
    ...noRefreshGracePeriod,
  };
  const servers: KillableServer[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const server = new KillableServer({ ...shared, PORT: String(await findFreePort()), ...env(nth) });
    await server.start();
    servers.push(server);
  }
  loadBalancer.setPorts(servers.map(({ env: { PORT } }) => Number(PORT)));
  const closing = [
    () => loadBalancer.close(),
    () => Promise.all(servers.map((server) => server.kill())),
    async () => directory[Symbol.asyncDispose](),
  ];
  return { loadBalancer, dataDirectory: directory.path, servers, closing };
}

/** Servers on a PostgreSQL server that persists confirmed writes. */
export class PostgresqlEnvironment extends FaultEnvironment {
  /** The current primary, which changes after a failover. */
  postgresql: PostgresqlServer;

  constructor(parts: EnvironmentParts, postgresql: PostgresqlServer) {
    super(parts);
    this.postgresql = postgresql;
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.postgresql.stop();
  }

  override sql(text: string): Promise<readonly object[]> {
    return runAdminSql(this.postgresql.url, text);
  }
}

export const startDurablePostgresql = async (options: PostgresqlOptions = {}): Promise<PostgresqlServer> =>
  startPostgresql(await findPostgresql(), { durable: true, ...options });

/** Retries an action until it succeeds, for at most `seconds`, and returns the number of failures. */
export async function retryFor(action: () => Promise<unknown>, seconds: number): Promise<number> {
  for (const end = Date.now() + seconds * 1000, failures = { count: 0 }; ; failures.count += 1) {
    try {
      await action();
      return failures.count;
    } catch (error) {
      if (Date.now() > end) throw error;
      await sleep(100);
    }
  }
}
