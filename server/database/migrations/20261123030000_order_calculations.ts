import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Creates functions that are shared by placing and importing orders. Like this migration, the SQL file must not change after a release. */
export class OrderCalculations extends Migration {
  override name = '20261123030000_order_calculations';

  override up(): void {
    const file = readFileSync(new URL('20261123030000_order_calculations.sql', import.meta.url), 'utf8');
    // PGlite accepts one statement at a time.
    for (const statement of file.split(/;\n\n/)) this.addSql(statement);
  }
}
