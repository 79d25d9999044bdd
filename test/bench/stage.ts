import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { type Scope, scopeNames } from '@mandate/contract';
import { migrate } from '../../server/database/migrate.ts';
import { openDatabase, type Database } from '../../server/database/orm.ts';
import { type Client, confidentialClient } from '../support/oauth-flow.ts';
import { findPostgresql, startPostgresql } from '../support/postgresql-server.ts';
import { type Candidate, startCandidate } from './candidate.ts';
import { fillShop, type ShopSize } from './fill-shop.ts';
import type { Shot } from './measure.ts';

/** Everything that stands while cases are measured: the database with its shop, and the servers in front of it. */
export type Stage = {
  readonly shop: ShopSize;
  readonly db: Database;
  readonly mandate: Candidate;
  readonly peers: Readonly<Record<'floor' | 'fastify' | 'orm', Candidate>>;
  /** A token of an application that acts for the staff, and what it authenticates with. */
  readonly token: string;
  readonly client: Client;
  readonly startMandate: (env?: Readonly<Record<string, string>>) => Promise<Candidate>;
  readonly directory: string;
  readonly end: () => Promise<void>;
};

const issuer = 'https://shop.example';
/** They are counted all the same. */
const limitsNobodyMeets = { MANDATE_RATE_LIMIT: '100000000', MANDATE_RATE_LIMIT_IP: '100000000', MANDATE_MONTHLY_QUOTA: '1000000000' };
const here = import.meta.dirname;

/** Requests reach a server in production through a proxy that speaks TLS, and says so. */
export const throughProxy = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.7', host: 'shop.example' };

export async function setStage(shop: ShopSize, report: (doing: string) => void): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), 'mandate-bench-'));
  report('starting PostgreSQL');
  const server = await startPostgresql(await findPostgresql());
  const db = await openDatabase(server.url, { timeouts: 'none' });
  await migrate(db);
  report(`filling it with ${shop.orders.toLocaleString('en')} orders`);
  await fillShop(db.em.fork(), shop);
  report('starting the servers');
  const log = (name: string): string => join(directory, `${name}.log`);
  const asShipped = {
    DATABASE_URL: server.url,
    MANDATE_SECRET: randomBytes(32).toString('hex'),
    MANDATE_ISSUER: issuer,
    MANDATE_TRUST_PROXY: '1',
    ...limitsNobodyMeets,
  };
  const startMandate = (env = {}): Promise<Candidate> =>
    startCandidate(join(here, '../../server/main.ts'), { ...asShipped, ...env }, log('mandate'));
  const mandate = await startMandate();
  const client = await confidentialClient(db, scopeNames);
  const token = await clientToken(mandate.origin, client, scopeNames);
  const jwks = await throughProxyTo(mandate.origin, { path: '/oauth/jwks' });
  const forPeers = { DATABASE_URL: server.url, ISSUER: issuer, JWKS: jwks };
  const peer = (name: string): Promise<Candidate> => startCandidate(join(here, `peers/${name}.ts`), forPeers, log(name));
  const peers = { floor: await peer('floor'), fastify: await peer('fastify-drizzle'), orm: await peer('express-orm') };
  return {
    shop,
    db,
    mandate,
    peers,
    token,
    client,
    startMandate,
    directory,
    async end() {
      for (const candidate of [mandate, ...Object.values(peers)]) await candidate.stop();
      await db.close();
      await server.stop();
      await rm(directory, { recursive: true });
    },
  };
}

/** By client credentials, over HTTP, as through the proxy. */
async function clientToken(origin: string, { clientId, secret }: Client, scopes: readonly Scope[]): Promise<string> {
  const answer = await throughProxyTo(origin, {
    path: '/oauth/token',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
    },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: scopes.join(' ') }).toString(),
  });
  return z.object({ access_token: z.string() }).parse(JSON.parse(answer)).access_token;
}

/** `fetch` would not send another Host than the address it connects to. */
async function throughProxyTo(origin: string, { path, headers, body }: Shot): Promise<string> {
  const sent = request(`${origin}${path}`, { method: body === undefined ? 'GET' : 'POST', headers: { ...throughProxy, ...headers } }).end(
    body,
  );
  const [answer] = await once(sent, 'response');
  return text(answer);
}
