import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/**
 * Statistics functions that get the rows to read from the server, which divides periods in less time than PostgreSQL. Running processes
 * continue to call the earlier functions. Like this migration, the SQL file must not change after a release.
 */
export class OrderStatisticsByPart extends Migration {
  override name = '20261127040000_order_statistics_by_part';

  override up(): void {
    const file = readFileSync(new URL('20261127040000_order_statistics_by_part.sql', import.meta.url), 'utf8');
    // PGlite accepts one statement at a time.
    for (const statement of file.split(/;\n\n/)) this.addSql(statement);
  }
}
