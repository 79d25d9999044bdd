import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../server/database/entity-manager/entity-manager-type.ts';
import { type OrderFilters, type OrderSort, buildListOrdersQuery } from '../../server/orders/list-orders.sql.ts';
import type { DerivedKeys } from '../../server/crypto/derived-keys-and-server-secret.ts';

export const pageSize = 20;
const deepPage = 250_000;

export type List = { readonly filters: OrderFilters; readonly ascending?: boolean; readonly by?: OrderSort['by'] };

export const orderSort = ({ by = 'created_at', ascending = false }: List): OrderSort => ({ by, descending: !ascending });

export type Position = readonly [value: string, id: number];

/** Uses OFFSET to find the last row before the deep page. */
export async function deepPosition(db: Database, shape: List): Promise<{ position: Position; page: number } | undefined> {
  const total = await countMatching(db, shape);
  const page = Math.min(deepPage, Math.floor((total / pageSize) * 0.9));
  if (page < 2) return undefined;
  const inner = buildListOrdersQuery(shape.filters, { sort: orderSort(shape), position: undefined, limit: page * pageSize });
  const { by } = orderSort(shape);
  const { rows } = await sql<{
    id: number;
    sorted: string;
  }>`select id, ${sql.ref(by)} as sorted from (${inner}) o offset ${page * pageSize - 1} limit 1`.execute(db.em.fork().getKysely());
  const [last] = rows;
  return last && { position: [new Date(last.sorted).toISOString(), last.id], page };
}

async function countMatching(db: Database, shape: List): Promise<number> {
  const all = buildListOrdersQuery(shape.filters, { sort: orderSort(shape), position: undefined, limit: 2 * deepPage * pageSize });
  const { rows } = await sql<{ count: number }>`select count(*) as count from (${all}) o`.execute(db.em.fork().getKysely());
  return rows[0]?.count ?? 0;
}

/** Returns a cursor for the same list at a different position, signed as the server signs its cursors. */
export function moveCursor(cursor: string, [value, id]: Position, keys: Pick<DerivedKeys, 'cursors'>): string {
  const [body = ''] = cursor.split('.');
  const [version, list] = JSON.parse(Buffer.from(body, 'base64url').toString());
  const next = Buffer.from(JSON.stringify([version, list, value, id])).toString('base64url');
  const signature = createHmac('sha256', keys.cursors).update(next).digest().subarray(0, 16);
  return `${next}.${signature.toString('base64url')}`;
}
