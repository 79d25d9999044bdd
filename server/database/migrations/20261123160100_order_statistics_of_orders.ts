import { Migration } from '@mikro-orm/migrations';

/** Runs in a separate transaction, so that each transaction locks only one existing table. */
export class OrderStatisticsOfOrders extends Migration {
  override name = '20261123160100_order_statistics_of_orders';

  override up(): void {
    this.addSql(
      `create trigger record_statistics before insert or update or delete on orders for each row execute function record_order_statistics()`,
    );
  }
}
