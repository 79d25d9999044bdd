import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** What the entities cannot say. The SQL file beside this one is as immutable as the migration itself. */
export class PlaceOrderV2 extends Migration {
  override name = '20261121213000_place_order_v2';

  override up(): void {
    this.addSql(readFileSync(new URL('20261121213000_place_order_v2.sql', import.meta.url), 'utf8'));
  }
}
