import { Migration } from '@mikro-orm/migrations';

/** Runs in a separate transaction, so that each transaction locks only one existing table. */
export class OrderStatisticsOfRefunds extends Migration {
  override name = '20261123160300_order_statistics_of_refunds';

  override up(): void {
    this.addSql(
      `create trigger record_statistics after insert or update or delete on refunds for each row execute function record_refund_statistics()`,
    );
  }
}
