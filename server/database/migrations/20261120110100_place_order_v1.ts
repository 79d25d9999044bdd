import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Creates a database function, which entities cannot define. Like this migration, the SQL file must not change after a release. */
export class PlaceOrderV1 extends Migration {
  override name = '20261120110100_place_order_v1';

  override up(): void {
    // Leaves free space in every page, so that a sale can store the new row version in the same page.
    this.addSql('alter table product_stock set (fillfactor = 40);');
    this.addSql(readFileSync(new URL('20261120110100_place_order_v1.sql', import.meta.url), 'utf8'));
  }
}
