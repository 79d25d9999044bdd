import { Migration } from '@mikro-orm/migrations';

/** Whether an application can access orders that it did not place. Existing grants keep their access. */
export class OrdersPlacedByOthers extends Migration {
  override name = '20261123180000_orders_placed_by_others';

  override up(): void {
    this.addSql(`alter table "order_limits"
      add column "own_orders_only" boolean not null default false,
      add column "all_orders_grantable" boolean not null default true;`);
    this.addSql(`alter table "webhook_endpoints" add column "own_orders_only" boolean not null default false;`);
  }
}
