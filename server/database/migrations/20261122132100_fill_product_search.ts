import { Migration } from '@mikro-orm/migrations';

/**
 * In a transaction of its own, after the trigger is committed: requests read and place orders meanwhile. A product that is deleted is
 * skipped because of its lock, and one that is changed keeps what the trigger wrote.
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
