import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Tables and functions that the entities cannot express. The SQL file must not change after a release, just like this migration. */
export class OrderStatistics extends Migration {
  override name = '20261123160010_order_statistics';

  override up(): void {
    const file = readFileSync(new URL('20261123160010_order_statistics.sql', import.meta.url), 'utf8');
    // PGlite accepts one statement at a time.
    for (const statement of file.split(/;\n\n/)) this.addSql(statement);
  }
}
