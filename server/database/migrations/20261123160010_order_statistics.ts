import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Creates tables and database functions that entities cannot define. Like this migration, the SQL file must not change after a release. */
export class OrderStatistics extends Migration {
  override name = '20261123160010_order_statistics';

  override up(): void {
    const file = readFileSync(new URL('20261123160010_order_statistics.sql', import.meta.url), 'utf8');
    // PGlite accepts one statement at a time.
    for (const statement of file.split(/;\n\n/)) this.addSql(statement);
  }
}
