import { Migration } from '@mikro-orm/migrations';

/**
 * Runs in a separate transaction after the trigger has been committed, so that requests can read products and place orders in the meantime.
 * The lock excludes products that are being deleted. A product that is changed in the meantime keeps the row that the trigger wrote.
 */
export class FillProductSearch extends Migration {
  override name = '20261122132100_fill_product_search';

  override up(): void {
    this.addSql(`insert into product_search (product_id, words, title)
      select p.id, found.words, found.title from products p cross join lateral product_search_row(p.name, p.sku, p.description) found
         for key share of p
      on conflict (product_id) do nothing`);
  }
}
