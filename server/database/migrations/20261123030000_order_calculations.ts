import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Functions that placed and imported orders share. The SQL file must not change after a release, just like this migration. */
export class OrderCalculations extends Migration {
  override name = '20261123030000_order_calculations';

  override up(): void {
    const file = readFileSync(new URL('20261123030000_order_calculations.sql', import.meta.url), 'utf8');
    // PGlite accepts one statement at a time.
    for (const statement of file.split(/;\n\n/)) this.addSql(statement);
  }
}
