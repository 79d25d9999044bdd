import { Migration } from '@mikro-orm/migrations';

/** Runs in a separate transaction, so that each transaction locks only one existing table. */
export class OrderStatisticsOfCategories extends Migration {
  override name = '20261123160400_order_statistics_of_categories';

  override up(): void {
    this.addSql(
      `create trigger move_statistics after update of category on products for each row when (old.category is distinct from new.category) execute function move_order_statistics_to_category()`,
    );
  }
}
