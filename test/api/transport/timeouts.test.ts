import { describe, expect, test } from 'vitest';
import { openDatabaseWithoutMigrating } from '../../../server/schema/open-database-without-migrating.ts';
import { createLogger } from '../../../server/logging/logger.ts';
import { databaseKind, createMigratedPostgresqlUrl } from '../../support/services/database.ts';
import { startMandateServer } from '../../support/server/start-mandate.ts';
import { usesTwoProcesses } from '../../support/server/process-mode.ts';
import { createTestShop, buildOrderInput } from '../../support/shop/test-shop.ts';

// PGlite has one connection, so a statement never waits for a lock.
describe.skipIf(databaseKind === 'pglite')('a statement over the time limit', () => {
  test('is aborted with 503 and Retry-After, and the connection remains usable', async ({ skip }) => {
    skip(usesTwoProcesses, 'needs one process: the statement time limit cannot be configured');
    const url = await createMigratedPostgresqlUrl();
    const log = createLogger(false);
    log.level = 'silent';
    const mandate = await startMandateServer({ db: await openDatabaseWithoutMigrating(url, { statementMs: 200, connectionsMax: 1 }), log });
    const blockingDatabase = await openDatabaseWithoutMigrating(url);
    try {
      const shop = await createTestShop(mandate);
      const product = await shop.createProduct();
      const order = { ...buildOrderInput([product, 1]), user_id: (await shop.createUser()).id };
      const placeOrder = () =>
        mandate.callApi('POST', '/api/v1/orders', { token: shop.token, body: order, headers: { 'idempotency-key': 'once' } });
      const blockingTransaction = blockingDatabase.em.fork();
      await blockingTransaction.begin();
      await blockingTransaction.execute('select 1 from product_stock where product_id = ? for update', [product.id]);
      const { status, body, headers } = await placeOrder();
      expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'unavailable', '1']);
      await blockingTransaction.rollback();
      // the idempotency key was rolled back too
      expect((await placeOrder()).status).toBe(201);
      expect((await mandate.callApi('GET', `/api/v1/products/${product.id}`)).body.stock).toBe(99);
    } finally {
      await mandate.close();
      await blockingDatabase.close();
    }
  });
});
