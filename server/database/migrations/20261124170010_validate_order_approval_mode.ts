import { Migration } from '@mikro-orm/migrations';

/** Validates the check of the previous migration without blocking writes. */
export class ValidateOrderApprovalMode extends Migration {
  override name = '20261124170010_validate_order_approval_mode';

  override up(): void {
    this.addSql(`alter table "order_limits" validate constraint "order_limits_approval_check";`);
  }
}
