import { scopeNames } from '@mandate/contract';
import { z } from 'zod';
import { openDatabaseWithoutMigrating } from '../../server/schema/open-database-without-migrating.ts';
import { DeliveryMethod } from '../../server/delivery-methods/delivery-method.entity.ts';
import { obtainClientToken, createConfidentialClient } from '../support/oauth/oauth-flow.ts';
import { findPostgresql, startPostgresql } from '../support/services/postgresql-server.ts';
import { startServerProcess, createDataDirectory, type ServerProcess } from '../support/server/server-process.ts';

export type RunningShop = {
  readonly server: ServerProcess;
  readonly token: string;
  /** A product with unlimited stock, and a user. */
  readonly productId: number;
  readonly userId: number;
};

const limits = { MANDATE_RATE_LIMIT: '1000000000', MANDATE_RATE_LIMIT_IP: '1000000000', MANDATE_MONTHLY_QUOTA: '1000000000' };

/** Starts a server process with a new PostgreSQL server, a product and a user. */
export async function withRunningShop(use: (shop: RunningShop) => Promise<void>): Promise<void> {
  const postgresql = await startPostgresql(await findPostgresql());
  await using directory = await createDataDirectory();
  const server = await startServerProcess({ DATABASE_URL: postgresql.url, MANDATE_DATA_DIR: directory.path, ...limits });
  const db = await openDatabaseWithoutMigrating(postgresql.url, { connectionsMax: 2 });
  try {
    const token = await obtainClientToken(server.url, await createConfidentialClient(db, scopeNames), scopeNames);
    const free = { code: 'free', name: 'Free', price: 0, currency: 'EUR', requiresAddress: false, active: true } as const;
    await db.em.fork().insert(DeliveryMethod, free);
    const make = async (path: string, body: object): Promise<number> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const response = await fetch(`${server.url}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      if (response.status !== 201) throw new Error(await response.text());
      return z.object({ id: z.number() }).parse(await response.json()).id;
    };
    const product = { sku: 'LOAD', name: 'Load', category: 'load', price: 100, currency: 'EUR', stock: null, status: 'active' };
    const productId = await make('/products', product);
    const userId = await make('/users', { name: 'Load', email: 'load@example.com' });
    await use({ server, token, productId, userId });
  } finally {
    await db.close();
    await server.stop();
    await postgresql.stop();
  }
}
