import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/**
 * Makes statistics queries faster: adds six-hour sums, reads sums that adjacent periods share only once, and reads a product's sums from an
 * index. Running processes continue to call the same functions. Like this migration, the SQL file must not change after a release.
 */
export class OrderStatisticsReads extends Migration {
  override name = '20261126163000_order_statistics_reads';

  override up(): void {
    const file = readFileSync(new URL('20261126163000_order_statistics_reads.sql', import.meta.url), 'utf8');
    // PGlite accepts one statement at a time.
    for (const statement of file.split(/;\n\n/)) this.addSql(statement);
  }
}
