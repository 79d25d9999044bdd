import type { EntityManager } from '../database/entity-manager/entity-manager.ts';
import { prepareStatement } from '../database/queries/prepared-statement.ts';
import type { RowError } from '../imports/parse-cells.ts';
import type { OrderImportParams } from './order-import-parameters.ts';
import type { ImportedOrderHead, ImportedOrderLine } from './parse-order-row.ts';

type KnownProduct = { readonly id: number; readonly sku: string };

const findBySku = prepareStatement<KnownProduct>(
  'find_products_by_sku',
  'select id, sku from products where sku = any(select jsonb_array_elements_text($1::jsonb))',
);
// Inserting in SKU order keeps concurrent imports from deadlocking. Products that another import has just created are read afterwards.
const createProducts = prepareStatement<KnownProduct>(
  'create_imported_products',
  `insert into products (sku, name, category, price, currency, tax_rate_bps, status)
   select sku, name, 'imported', unit_price, $2, tax_rate_bps, 'archived'
     from jsonb_to_recordset($1::jsonb) as p (sku text, name text, unit_price bigint, tax_rate_bps int) order by sku
   on conflict (sku) do nothing
   returning id, sku`,
);

/** Returns the product ids of all lines by SKU, or an error. Creates unknown products if the import allows it. */
export async function findOrCreateProducts(
  em: EntityManager,
  params: OrderImportParams,
  { currency }: ImportedOrderHead,
  lines: readonly ImportedOrderLine[],
): Promise<ReadonlyMap<string, number> | RowError> {
  const ids = new Map((await findByLines(em, lines)).map(({ sku, id }) => [sku, id]));
  const unknown = new Map(lines.filter(({ sku }) => !ids.has(sku)).map((line) => [line.sku, line]));
  if (unknown.size === 0) return ids;
  if (params.unknown_products === 'refuse') {
    const skus = [...unknown.keys()].slice(0, 10).join(', ');
    return { field: 'sku', code: 'unknown_reference', detail: `There is no product with the SKU ${skus}.` };
  }
  await createProducts(em, [JSON.stringify([...unknown.values()]), currency]);
  return new Map((await findByLines(em, lines)).map(({ sku, id }) => [sku, id]));
}

const findByLines = (em: EntityManager, lines: readonly ImportedOrderLine[]): Promise<KnownProduct[]> =>
  findBySku(em, [JSON.stringify([...new Set(lines.map(({ sku }) => sku))])]);
