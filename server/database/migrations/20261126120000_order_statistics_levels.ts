import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/**
 * Adds hourly sums (six-hour sums for products) and five-day sums, so that statistics queries read fewer rows. Running processes continue
 * to call the same functions. Like this migration, the SQL file must not change after a release.
 */
export class OrderStatisticsLevels extends Migration {
  override name = '20261126120000_order_statistics_levels';

  override up(): void {
    const file = readFileSync(new URL('20261126120000_order_statistics_levels.sql', import.meta.url), 'utf8');
    // PGlite accepts one statement at a time.
    for (const statement of file.split(/;\n\n/)) this.addSql(statement);
  }
}
