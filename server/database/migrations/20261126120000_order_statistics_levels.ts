import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/**
 * Adds sums of hours (for products, of six hours) and of five days, so that statistics read fewer rows. Running processes continue to call
 * the same functions. The SQL file must not change after a release, just like this migration.
 */
export class OrderStatisticsLevels extends Migration {
  override name = '20261126120000_order_statistics_levels';

  override up(): void {
    const file = readFileSync(new URL('20261126120000_order_statistics_levels.sql', import.meta.url), 'utf8');
    // PGlite accepts one statement at a time.
    for (const statement of file.split(/;\n\n/)) this.addSql(statement);
  }
}
