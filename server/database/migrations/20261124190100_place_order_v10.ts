import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** A function that the entities cannot express. The SQL file must not change after a release, just like this migration. */
export class PlaceOrderV10 extends Migration {
  override name = '20261124190100_place_order_v10';

  override up(): void {
    this.addSql(readFileSync(new URL('20261124190100_place_order_v10.sql', import.meta.url), 'utf8'));
  }
}
