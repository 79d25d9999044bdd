import { Migration } from '@mikro-orm/migrations';

export class ValidateUsageErrors extends Migration {
  override name = '20261123160020_validate_usage_errors';

  override up(): void {
    this.addSql(`alter table "usage_months" validate constraint "usage_months_errors_check"`);
  }
}
