import { z } from 'zod';
import type { EntityManager } from '../../../server/database/entity-manager/entity-manager-type.ts';

/** Size of a table without its indexes, and size of the indexes, in bytes per row. */
export type TableSize = { readonly table: string; readonly rows: number; readonly tableBytes: number; readonly indexBytes: number };

const row = z.object({ rows: z.coerce.number(), table_bytes: z.coerce.number(), index_bytes: z.coerce.number() });

const measuredTables = ['orders', 'order_items', 'events', 'oauth_records', 'users'] as const;

export async function measureSizes(em: EntityManager): Promise<readonly TableSize[]> {
  const sizes: TableSize[] = [];
  for (const table of measuredTables) {
    const [found] = await em.execute(
      `select (select count(*) from ${table}) as rows, pg_table_size('${table}') as table_bytes, pg_indexes_size('${table}') as index_bytes`,
    );
    const { rows, table_bytes: tableBytes, index_bytes: indexBytes } = row.parse(found);
    sizes.push({ table, rows, tableBytes: tableBytes / rows, indexBytes: indexBytes / rows });
  }
  return sizes;
}
