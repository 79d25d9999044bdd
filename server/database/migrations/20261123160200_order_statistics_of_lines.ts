import { Migration } from '@mikro-orm/migrations';

/** Runs in a separate transaction, so that each transaction locks only one existing table. */
export class OrderStatisticsOfLines extends Migration {
  override name = '20261123160200_order_statistics_of_lines';

  override up(): void {
    this.addSql(
      `create trigger record_inserted_statistics after insert on order_items referencing new table as changed_lines for each statement execute function record_order_line_statistics()`,
    );
    this.addSql(
      `create trigger record_deleted_statistics after delete on order_items referencing old table as changed_lines for each statement execute function record_order_line_statistics()`,
    );
    this.addSql(
      `create trigger record_updated_statistics after update of order_id, product_id, quantity, total on order_items for each row execute function record_changed_order_line_statistics()`,
    );
  }
}
