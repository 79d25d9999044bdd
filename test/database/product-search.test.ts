import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { migrateAndOpenDatabase } from '../../server/schema/migrate-and-open-database.ts';
import { openDatabaseWithoutMigrating } from '../../server/schema/open-database-without-migrating.ts';
import type { Database, EntityManager } from '../../server/database/entity-manager/entity-manager-type.ts';
import { buildSelectSimilarWordsQuery } from '../../server/products/build-spelling-corrected-tsquery.sql.ts';
import { searchOrListProducts } from '../../server/products/search-or-list-products.ts';
import { databaseKind, createEmptyPostgresqlUrl, createMigratedDatabase } from '../support/services/database.ts';

const searchProductRows = async (db: Database, text: string): Promise<readonly unknown[]> => {
  const { rows } = await searchOrListProducts(
    db.em.fork(),
    text,
    { status: ['active'] },
    { by: 'relevance', descending: true },
    undefined,
    100,
  );
  return rows;
};

describe('a search among 5,000 products', () => {
  let db: Database;
  beforeAll(async () => {
    db = await createMigratedDatabase();
    const em = db.em.fork();
    await em.execute(`
      insert into products (sku, name, description, category, price, currency, status)
      select 'SKU-' || n, 'Item ' || md5(n::text), 'Description ' || n, 'things', n, 'GBP', 'active' from generate_series(1, 5000) n`);
    await em.execute(`update products set name = 'Alabaster vase' where id % 250 = 0`);
    await em.execute('vacuum analyze product_search');
    await em.execute('analyze products');
    await em.execute('vacuum analyze product_words');
  }, 120_000);
  afterAll(() => db.close());

  const plan = async (query: string): Promise<string> => {
    const rows = await db.em.fork().execute<Record<string, string>[]>(`explain ${query}`);
    return rows.flatMap((row) => Object.values(row)).join('\n');
  };

  test('uses the word index', async () => {
    const query = `select p.id from products p join products_matching(product_search_query(t.q)) found on found.product_id = p.id where p.status = 'active'`;
    const found = await plan(`select * from (values ('alabas')) t (q) cross join lateral (${query} order by found.relevance limit 21) f`);
    expect(found).toContain('Bitmap Index Scan on product_search_words');
    expect(found).not.toContain('Seq Scan on product_search');
  });

  test('uses the word and trigram indexes for a misspelling', async () => {
    const { sql, parameters } = buildSelectSimilarWordsQuery('alabastre', ['active']).compile(db.em.fork().getConnection().getClient());
    const literals = parameters.map((value) => `'${Array.isArray(value) ? `{${value.join()}}` : String(value)}'`);
    const found = await plan(sql.replaceAll(/\$(\d+)/gu, (_, number) => literals[Number(number) - 1] ?? ''));
    for (const index of ['product_words_trigrams', 'product_words_word', 'product_search_words']) expect(found).toContain(index);
    expect(found).not.toContain('Seq Scan on product_');
  });

  test.each(['alabaster', 'alabastre'])('finds all products that match %s', async (text) => {
    expect(await searchProductRows(db, text)).toHaveLength(20);
  });
});

test('the migration adds existing products to the search', async () => {
  const db = await openDatabaseWithoutMigrating('memory://');
  try {
    const names = (await db.migrator.getPending()).map(({ name }) => name);
    await db.migrator.up({ migrations: names.slice(0, names.indexOf('20261122132000_product_search')) });
    await db.em.fork().execute(
      `insert into products (sku, name, description, category, price, currency, status)
         values ('A', 'Alabaster vase', 'Carved by hand', 'x', 1, 'GBP', 'active')`,
    );
    await db.migrator.up();
    for (const text of ['vase', 'vasee crved']) expect(await searchProductRows(db, text)).toHaveLength(1);
  } finally {
    await db.close();
  }
}, 120_000);

test.skipIf(databaseKind === 'pglite')(
  'two transactions that insert the same new words in opposite order do not block each other',
  async () => {
    const db = await createMigratedDatabase();
    const [first, second] = [db.em.fork(), db.em.fork()];
    const add = async (em: EntityManager, sku: string, name: string): Promise<unknown> =>
      em.execute(
        `insert into products (sku, name, category, price, currency, status) values ('${sku}', '${name}', 'x', 1, 'GBP', 'active')`,
      );
    for (const em of [first, second]) {
      await em.begin();
      await em.execute(`set local lock_timeout = '5s'`);
    }
    await add(first, 'A1', 'Alabaster vase');
    await add(second, 'B1', 'Porcelain bowl');
    await Promise.all([add(first, 'A2', 'Porcelain bowl'), add(second, 'B2', 'Alabaster vase')]);
    await first.commit();
    expect(await searchProductRows(db, 'alabastre')).toHaveLength(1);
    await second.commit();
    for (const text of ['alabastre', 'porcelian']) expect(await searchProductRows(db, text)).toHaveLength(2);
    await db.close();
  },
);

describe.skipIf(databaseKind === 'pglite')('the extension pg_trgm', () => {
  /** Creates a database and a role without superuser rights. Returns the database URL for this role. */
  const createDatabaseWithGrant = async (grant: (database: string, user: string) => string): Promise<string> => {
    const url = new URL(await createEmptyPostgresqlUrl());
    const [database, user] = [url.pathname.slice(1), `user_${randomBytes(4).toString('hex')}`];
    const db = await openDatabaseWithoutMigrating(url.href);
    await db.em.fork().execute(`create role ${user} login password 'secret'`);
    await db.em.fork().execute(grant(database, user));
    await db.close();
    [url.username, url.password] = [user, 'secret'];
    return url.href;
  };

  test('is created by the database owner', async () => {
    const url = await createDatabaseWithGrant((database, user) => `alter database ${database} owner to ${user}`);
    const db = await migrateAndOpenDatabase(url);
    expect(await db.em.fork().execute(`select extname from pg_extension where extname = 'pg_trgm'`)).toHaveLength(1);
    await db.close();
  });

  test('results in an error with the required SQL statement if the role cannot create it', async () => {
    const url = await createDatabaseWithGrant((_database, user) => `grant all on schema public to ${user}`);
    const failure: unknown = await migrateAndOpenDatabase(url).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'MissingExtensionError', message: expect.stringContaining('run "create extension pg_trgm"') });
  });
});
