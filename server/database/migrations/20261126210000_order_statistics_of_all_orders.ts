import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/**
 * Adds the sums of all orders, so that a query for a period does not read the sums of each status, and reads the sums of products by time of
 * day, which needs fewer index searches. Running processes continue to call the same functions. Like this migration, the SQL file must not
 * change after a release.
 */
export class OrderStatisticsOfAllOrders extends Migration {
  override name = '20261126210000_order_statistics_of_all_orders';

  override up(): void {
    const file = readFileSync(new URL('20261126210000_order_statistics_of_all_orders.sql', import.meta.url), 'utf8');
    // PGlite accepts one statement at a time.
    for (const statement of file.split(/;\n\n/)) this.addSql(statement);
  }
}
