import { Migration } from '@mikro-orm/migrations';

export class UsageErrors extends Migration {
  override name = '20261123160000_usage_errors';

  override up(): void {
    this.addSql(`alter table "usage_months" add "errors" bigint not null default '0'`);
    this.addSql(`alter table "usage_months" add constraint "usage_months_errors_check" check (errors >= 0) not valid`);
  }
}
