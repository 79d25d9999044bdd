import { Migration } from '@mikro-orm/migrations';

/**
 * Adds the setting that specifies which orders need the customer's approval. With the default, existing grants can request approval of
 * orders above their limits.
 */
export class OrderApprovalMode extends Migration {
  override name = '20261124170000_order_approval_mode';

  override up(): void {
    this.addSql(`alter table "order_limits"
      add column "approval" text not null default 'above_limit',
      add constraint "order_limits_approval_check" check ("approval" in ('above_limit', 'always', 'never')) not valid;`);
  }
}
