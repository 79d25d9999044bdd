import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Creates a database function, which entities cannot define. Like this migration, the SQL file must not change after a release. */
export class PlaceOrderV4 extends Migration {
  override name = '20261123030100_place_order_v4';

  override up(): void {
    this.addSql(readFileSync(new URL('20261123030100_place_order_v4.sql', import.meta.url), 'utf8'));
  }
}
