import { Migration } from '@mikro-orm/migrations';

/** Runs after the triggers have been committed, so that concurrent changes are counted exactly once. */
export class FillOrderStatistics extends Migration {
  override name = '20261123160500_fill_order_statistics';

  override up(): void {
    this.addSql(`select mandate_rebuild_order_statistics_v1()`);
  }
}
