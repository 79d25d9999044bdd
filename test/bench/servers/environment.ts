import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { scopeNames } from '@mandate/contract';
import { migrate } from '../../../server/database/migrate/run-migrations.ts';
import { openDatabase } from '../../../server/schema/open-database.ts';
import type { Database } from '../../../server/database/entity-manager/entity-manager.ts';
import type { Browser } from '../../support/browser/browser.ts';
import { confidentialClient, webApplication } from '../../support/oauth/oauth-flow.ts';
import { serverDirectory } from '../../support/server/server-directory.ts';
import { type Candidate, startCandidate } from './server-under-test.ts';
import { fillShop, type ShopSize } from './fill-shop.ts';
import { clientToken, scope } from '../oauth-traffic.ts';
import { signedIn } from './seed-users.ts';
import { emptyDatabase, type EmptyDatabase } from './postgresql.ts';
import { issuer, proxyTo } from './load-balancer.ts';
import type { ServerName, Target } from './target.ts';

const here = import.meta.dirname;
/** They are counted all the same. */
const limitsNobodyMeets = { MANDATE_RATE_LIMIT: '100000000', MANDATE_RATE_LIMIT_IP: '100000000', MANDATE_MONTHLY_QUOTA: '1000000000' };
/** It is filled row by row in one process. */
const embeddedOrdersMax = 20_000;

const peerPrograms = { floor: 'floor', fastify: 'fastify-drizzle', orm: 'express-orm', 'oidc-provider': 'oidc-provider' } as const;

/** `people`: how many sign in, each in a browser. */
export type StageSize = ShopSize & { readonly people: number };

type Report = (doing: string) => void;
type Applications = Pick<Target, 'client' | 'website'>;
type Filled = Applications & { readonly postgresql: EmptyDatabase; readonly db: Database };

/** Everything that stands while cases are measured: the database with its shop, and the servers, which are started when a case needs them. */
export class Stage implements AsyncDisposable {
  readonly directory: string;
  readonly secret = randomBytes(32).toString('hex');
  readonly #shop: ShopSize;
  readonly #people: number;
  readonly #report: Report;
  readonly #targets = new Map<ServerName, Promise<Target>>();
  readonly #opened = new AsyncDisposableStack();
  #database: Promise<Filled> | undefined;

  constructor({ path, remove }: Awaited<ReturnType<typeof serverDirectory>>, { people, ...shop }: StageSize, report: Report) {
    this.directory = path;
    this.#shop = shop;
    this.#people = people;
    this.#report = report;
    this.#opened.defer(remove);
  }

  static async set(size: StageSize, report: Report): Promise<Stage> {
    return new Stage(await serverDirectory(), size, report);
  }

  /** The same for every case that asks for it. */
  target(name: ServerName): Promise<Target> {
    const made = this.#targets.get(name) ?? this.#make(name);
    this.#targets.set(name, made);
    return made;
  }

  /** One more of them, beside the others; whoever starts it stops it. */
  async start(name: Exclude<ServerName, 'mandate-pglite'>): Promise<Candidate> {
    if (name === 'mandate') return this.startMandate({ DATABASE_URL: (await this.#filled()).postgresql.url });
    const { postgresql, client, website } = await this.#filled();
    const { candidate } = await this.target('mandate');
    const jwks = await (await proxyTo(candidate.origin)(new URL('/oauth/jwks', issuer), {})).text();
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
    return startCandidate(join(here, `../peers/${peerPrograms[name]}.ts`), env, this.#log(name), probe);
  }

  /** Our server as shipped, with the protections on, on a database that is named there. */
  startMandate(env: Readonly<Record<string, string>>): Promise<Candidate> {
    const asShipped = { MANDATE_SECRET: this.secret, MANDATE_ISSUER: issuer, MANDATE_TRUST_PROXY: '1', ...limitsNobodyMeets };
    return startCandidate(join(here, '../../../server/main.ts'), { ...asShipped, ...env }, this.#log('mandate'));
  }

  /** Seconds of processor time that PostgreSQL has used so far, where that can be known. */
  async databaseSeconds(): Promise<number | undefined> {
    return (await this.#filled()).postgresql.cpuSeconds?.();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#targets.values());
    await this.#opened.disposeAsync();
  }

  #log(name: string): string {
    return join(this.directory, `${name}.log`);
  }

  async #make(name: ServerName): Promise<Target> {
    this.#report(`starting ${name}`);
    if (name === 'mandate-pglite') return this.#embedded();
    const { db, client, website } = await this.#filled();
    const candidate = await this.start(name);
    this.#opened.defer(() => candidate.stop());
    const from = name === 'mandate' ? candidate : (await this.target('mandate')).candidate;
    let browsers: Promise<readonly Browser[]> | undefined;
    return {
      candidate,
      shop: this.#shop,
      token: () => clientToken(proxyTo(from.origin), client),
      client,
      website,
      browsers: () => (browsers ??= signedIn(candidate.origin, this.#people, name === 'oidc-provider' ? undefined : db)),
    };
  }

  #filled(): Promise<Filled> {
    return (this.#database ??= this.#fill());
  }

  async #fill(): Promise<Filled> {
    this.#report('starting PostgreSQL');
    const postgresql = await emptyDatabase();
    this.#opened.defer(() => postgresql.remove());
    const db = await openDatabase(postgresql.url, { timeouts: 'none' });
    this.#opened.defer(() => db.close());
    this.#report(`filling it with ${this.#shop.orders.toLocaleString('en')} orders`);
    await migrate(db);
    await fillShop(db.em.fork(), this.#shop);
    return { postgresql, db, ...(await applicationsIn(db)) };
  }

  /** Our server on the database in its own process, which nobody else can open beside it. */
  async #embedded(): Promise<Target> {
    const directory = join(this.directory, 'pglite');
    const shop = { orders: Math.min(this.#shop.orders, embeddedOrdersMax), products: 1_000, users: 2_000 };
    const db = await openDatabase(join(directory, 'database'));
    await migrate(db);
    await fillShop(db.em.fork(), shop);
    const applications = await applicationsIn(db);
    await db.close();
    const candidate = await this.startMandate({ MANDATE_DATA_DIR: directory });
    this.#opened.defer(() => candidate.stop());
    const token = (): Promise<string> => clientToken(proxyTo(candidate.origin), applications.client);
    return { candidate, shop, token, ...applications, browsers: () => signedIn(candidate.origin, this.#people) };
  }
}

const applicationsIn = async (db: Database): Promise<Applications> => ({
  client: await confidentialClient(db, scopeNames),
  website: await webApplication(db, [scope]),
});
