import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { scopeNames } from '@mandate/contract';
import { migrate } from '../../../server/database/migrate/run-migrations.ts';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager-type.ts';
import { createConfidentialClient, createWebApplication } from '../../support/oauth/oauth-flow.ts';
import { createServerDirectory } from '../../support/services/server-directory.ts';
import { type MeasuredServer, startMeasuredServer } from './measured-server.ts';
import { fillShop, type ShopSize } from './fill-shop.ts';
import { clientToken, scope } from './client-token.ts';
import { createCustomers, openBrowsers, setPasswords } from './customers.ts';
import { createEmptyDatabase, type EmptyDatabase } from './empty-database.ts';
import { issuer, sendThroughProxy } from './tls-proxy.ts';
import type { ServerName, Target } from './target.ts';

const sourceDirectory = import.meta.dirname;
/** Limits that no case reaches. The server still counts requests against these limits. */
const unreachableLimits = { MANDATE_RATE_LIMIT: '100000000', MANDATE_RATE_LIMIT_IP: '100000000', MANDATE_MONTHLY_QUOTA: '1000000000' };
/** Maximum number of orders in PGlite, chosen to limit the time that is needed to fill the database. */
const embeddedOrdersMax = 20_000;

const peerPrograms = { floor: 'floor', fastify: 'fastify-drizzle', orm: 'express-orm', 'oidc-provider': 'oidc-provider' } as const;

/**
 * `customers`: number of users who sign in, each with a separate browser.
 * `postgresqlSettings`: settings of a new PostgreSQL server, as in `postgresql.conf`.
 */
export type BenchmarkSize = ShopSize & { readonly customers: number; readonly postgresqlSettings?: readonly string[] };

type Report = (progress: string) => void;
type Applications = Pick<Target, 'client' | 'website'>;
type FilledDatabase = Applications & { readonly postgresql: EmptyDatabase; readonly db: Database };

/** A database with a shop, and the servers under test. Each server starts when a case first needs it. */
export class BenchmarkEnvironment implements AsyncDisposable {
  readonly directory: string;
  readonly secret = randomBytes(32).toString('hex');
  readonly #shop: ShopSize;
  readonly #customers: number;
  readonly #postgresqlSettings: readonly string[];
  readonly #report: Report;
  readonly #targets = new Map<ServerName, Promise<Target>>();
  readonly #opened = new AsyncDisposableStack();
  #database: Promise<FilledDatabase> | undefined;

  constructor({ path, remove }: Awaited<ReturnType<typeof createServerDirectory>>, size: BenchmarkSize, report: Report) {
    const { customers, postgresqlSettings = [], ...shop } = size;
    this.directory = path;
    this.#shop = shop;
    this.#customers = customers;
    this.#postgresqlSettings = postgresqlSettings;
    this.#report = report;
    this.#opened.defer(remove);
  }

  static async create(size: BenchmarkSize, report: Report): Promise<BenchmarkEnvironment> {
    return new BenchmarkEnvironment(await createServerDirectory(), size, report);
  }

  /** Returns the target with the given name. All cases share the target. */
  target(name: ServerName): Promise<Target> {
    const target = this.#targets.get(name) ?? this.#createTarget(name);
    this.#targets.set(name, target);
    return target;
  }

  /** Starts an additional server, which the caller must stop. */
  async start(name: Exclude<ServerName, 'mandate-pglite'>): Promise<MeasuredServer> {
    if (name === 'mandate') return this.startMandate({ DATABASE_URL: (await this.#filledDatabase()).postgresql.url });
    const { postgresql, client, website } = await this.#filledDatabase();
    const { measuredServer } = await this.target('mandate');
    const jwks = await (await sendThroughProxy(measuredServer.origin)(new URL('/oauth/jwks', issuer), {})).text();
    const clients = JSON.stringify([
      {
        client_id: client.clientId,
        client_secret: client.secret,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
      {
        client_id: website.clientId,
        client_secret: website.secret,
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: [website.redirectUri],
      },
    ]);
    const env = { DATABASE_URL: postgresql.url, ISSUER: issuer, JWKS: jwks, CLIENTS: clients, SCOPE: scope };
    const probe = name === 'oidc-provider' ? '/oauth/jwks' : undefined;
    return startMeasuredServer(join(sourceDirectory, `../peers/${peerPrograms[name]}.ts`), env, this.#log(name), probe);
  }

  /** Starts our server with several processes that share a port. The caller must stop it. */
  async startProcesses(count: number): Promise<MeasuredServer> {
    return this.startMandate({ DATABASE_URL: (await this.#filledDatabase()).postgresql.url, MANDATE_PROCESSES: String(count) });
  }

  /** Starts our server as shipped, with all protections, on the given database. */
  startMandate(env: Readonly<Record<string, string>>): Promise<MeasuredServer> {
    const asShipped = {
      MANDATE_SECRET: this.secret,
      MANDATE_ISSUER: issuer,
      MANDATE_TRUST_PROXY: '1',
      MANDATE_TEST_PAYMENTS: 'on',
      ...unreachableLimits,
    };
    return startMeasuredServer(join(sourceDirectory, '../../../server/main.ts'), { ...asShipped, ...env }, this.#log('mandate'));
  }

  /** Returns the database of the servers that use PostgreSQL. */
  async database(): Promise<Database> {
    return (await this.#filledDatabase()).db;
  }

  /** Returns the PostgreSQL server. Other programs can create databases on it. */
  async postgresql(): Promise<EmptyDatabase> {
    return (await this.#filledDatabase()).postgresql;
  }

  /** Returns the CPU time that PostgreSQL has used so far, in seconds, or undefined if the time is unknown. */
  async databaseCpuSeconds(): Promise<number | undefined> {
    return (await this.#filledDatabase()).postgresql.cpuSeconds?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#targets.values());
    await this.#opened.disposeAsync();
  }

  #log(name: string): string {
    return join(this.directory, `${name}.log`);
  }

  async #createTarget(name: ServerName): Promise<Target> {
    this.#report(`starting ${name}`);
    if (name === 'mandate-pglite') return this.#createEmbeddedTarget();
    const { client, website } = await this.#filledDatabase();
    const measuredServer = await this.start(name);
    this.#opened.defer(() => measuredServer.stop());
    const shared = { measuredServer, shop: this.#shop, client, website };
    if (name === 'mandate') return { ...shared, ...this.#createCallers(measuredServer, { client, website }) };
    // The other servers accept our server's tokens. Only the peer in the sign-in case needs browsers.
    const { token, customers } = await this.target('mandate');
    return { ...shared, token, customers, browsers: once(() => openBrowsers(measuredServer.origin, this.#customers, false)) };
  }

  #createCallers(measuredServer: MeasuredServer, { client, website }: Applications): Pick<Target, 'token' | 'browsers' | 'customers'> {
    const browsers = once(() => {
      this.#report(`signing in ${this.#customers.toLocaleString('en')} customers`);
      return openBrowsers(measuredServer.origin, this.#customers, true);
    });
    return {
      token: () => clientToken(sendThroughProxy(measuredServer.origin), client),
      browsers,
      customers: createCustomers({ measuredServer, website }, browsers),
    };
  }

  #filledDatabase(): Promise<FilledDatabase> {
    return (this.#database ??= this.#fillDatabase());
  }

  async #fillDatabase(): Promise<FilledDatabase> {
    this.#report('starting PostgreSQL');
    const postgresql = await createEmptyDatabase(this.#postgresqlSettings);
    this.#opened.defer(() => postgresql.remove());
    const db = await openDatabaseWithoutMigrating(postgresql.url, { timeouts: 'none' });
    this.#opened.defer(() => db.close());
    this.#report(`filling the database with ${this.#shop.orders.toLocaleString('en')} orders`);
    await migrate(db);
    await fillShop(db.em.fork(), this.#shop);
    await setPasswords(db.em.fork(), this.#customers);
    return { postgresql, db, ...(await createApplications(db)) };
  }

  /** Starts our server on PGlite, which only one process can open at a time. */
  async #createEmbeddedTarget(): Promise<Target> {
    const directory = join(this.directory, 'pglite');
    const shop = { orders: Math.min(this.#shop.orders, embeddedOrdersMax), products: 1_000, users: 2_000 };
    const db = await openDatabaseWithoutMigrating(join(directory, 'database'));
    await migrate(db);
    await fillShop(db.em.fork(), shop);
    await setPasswords(db.em.fork(), this.#customers);
    const applications = await createApplications(db);
    await db.close();
    const measuredServer = await this.startMandate({ MANDATE_DATA_DIR: directory });
    this.#opened.defer(() => measuredServer.stop());
    return { measuredServer, shop, ...applications, ...this.#createCallers(measuredServer, applications) };
  }
}

function once<Result>(create: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined;
  return () => (result ??= create());
}

const createApplications = async (db: Database): Promise<Applications> => ({
  client: await createConfidentialClient(db, scopeNames),
  website: await createWebsiteOfShop(db),
});

/** Registers a website that the shop operates. A third-party application could access only its own orders. */
async function createWebsiteOfShop(db: Database): Promise<Applications['website']> {
  const website = await createWebApplication(db, [scope, 'orders.write', 'payments.write']);
  await db.em.fork().execute('update applications set first_party = true where client_id = ?', [website.clientId]);
  return website;
}
