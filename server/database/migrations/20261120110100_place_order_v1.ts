import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** What the entities cannot say. The SQL file beside this one is as immutable as the migration itself. */
export class PlaceOrderV1 extends Migration {
  override name = '20261120110100_place_order_v1';

  override up(): void {
    // Room in every page, so that a sale rewrites its row in place.
    this.addSql('alter table product_stock set (fillfactor = 40);');
    this.addSql(readFileSync(new URL('20261120110100_place_order_v1.sql', import.meta.url), 'utf8'));
  }
}
