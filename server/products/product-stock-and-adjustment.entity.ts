import { defineEntity, p } from '@mikro-orm/core';
import { productStatuses, stockAdjustmentReasons } from '@mandate/contract';
import { versionAndTimestampProperties } from '../database/entity-manager/version-and-timestamp-properties.ts';
import { createProblem } from '../http/problem-details/problem.ts';
import { translatable } from '../http/problem-details/translatable-text.ts';

/** Body of the trigger that updates the search index `product_search` and adds new words to `product_words`. */
const indexWordsSql = `
  if (old.name, old.sku, old.description) is distinct from (new.name, new.sku, new.description) then
    insert into product_search (product_id, words)
    values (new.id, product_search_words(new.name, new.sku, new.description))
    on conflict (product_id) do update set words = excluded.words;
    insert into product_words (word)
    select found.word from product_search s cross join lateral words_to_correct_to(s.words) found (word)
     where s.product_id = new.id and not exists (select from product_words known where known.word = found.word);
  end if;
  return null;`;

const schema = defineEntity({
  name: 'Product',
  tableName: 'products',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    sku: p.text().check('length(sku) >= 1 and length(sku) <= 64'),
    name: p.text().check('length(name) >= 1 and length(name) <= 200'),
    description: p.text().default('').check('length(description) <= 5000'),
    category: p.text().check('length(category) >= 1 and length(category) <= 64'),
    price: p.bigint('number').check('price >= 0 and price <= 999999999'),
    currency: p.character().length(3).check(`currency ~ '^[A-Z]{3}$'`),
    taxRateBps: p.integer().default(0).check('tax_rate_bps >= 0 and tax_rate_bps <= 10000'),
    status: p.enum(productStatuses).default('draft'),
    metadata: p.json<Record<string, string>>().defaultRaw(`'{}'`),
    ...versionAndTimestampProperties(),
  },
  uniques: [{ name: 'products_sku_unique', properties: ['sku'] }],
  triggers: [
    { name: 'index_words', timing: 'after', events: ['insert', 'update'], forEach: 'row', body: indexWordsSql },
    {
      name: 'move_statistics',
      timing: 'after',
      events: ['update'],
      expression:
        'create trigger move_statistics after update of category on products for each row when (old.category is distinct from new.category) execute function move_order_statistics_to_category()',
    },
  ],
  indexes: [
    { name: 'products_status_created', properties: ['status', 'createdAt', 'id'] },
    { name: 'products_category_price', properties: ['category', 'price', 'id'], where: `status = 'active'` },
    { name: 'products_price', properties: ['price', 'id'], where: `status = 'active'` },
    { name: 'products_name', properties: ['name', 'id'], where: `status = 'active'` },
  ],
});

type ProductStatus = (typeof productStatuses)[number];

export class Product extends schema.class {
  /**
   * Changes the status. Orders can refer to a product that has been on sale. Therefore, such a product can be archived, but cannot become a
   * draft again.
   */
  changeStatus(next: ProductStatus): void {
    if (next === this.status) return;
    if (next === 'draft') {
      throw createProblem('invalid_transition', {
        detail: translatable`The product has the status ${{ status: this.status }}, which can only be changed to ${{ next: this.status === 'active' ? 'archived' : 'active' }}.`,
      });
    }
    this.status = next;
  }
}
schema.setClass(Product);

/**
 * The stock of a product. The stock is stored in a separate, small row, so that sales do not conflict with product edits. If a product has
 * no such row, its stock is not tracked.
 */
export const ProductStock = defineEntity({
  name: 'ProductStock',
  tableName: 'product_stock',
  properties: {
    product: p.oneToOne(Product).primary().mapToPk().deleteRule('no action').updateRule('no action'),
    available: p.integer().check('available >= 0'),
  },
});

export const StockAdjustment = defineEntity({
  name: 'StockAdjustment',
  tableName: 'stock_adjustments',
  properties: {
    id: p.bigint('number').primary().autoincrement().columnType('bigint').generated('identity'),
    product: p.manyToOne(Product).mapToPk().deleteRule('no action').updateRule('no action'),
    delta: p.integer().check('delta <> 0'),
    stockAfter: p.integer().check('stock_after >= 0'),
    reason: p.enum(stockAdjustmentReasons),
    note: p.text().nullable().check('length(note) <= 500'),
    /** Key of the client and the user that made the adjustment. */
    actor: p.text(),
    createdAt: p.datetime(3).defaultRaw('now()'),
  },
  indexes: [{ name: 'stock_adjustments_product', properties: ['product', 'createdAt', 'id'] }],
});
