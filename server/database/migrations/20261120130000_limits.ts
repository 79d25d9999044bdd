import { Migration } from '@mikro-orm/migrations';

export class Limits extends Migration {
  override name = '20261120130000_limits';

  override up(): void {
    this.addSql(`alter table applications
      add column rate_limit_per_minute int null,
      add column quota_per_month int null,
      add constraint applications_rate_limit_per_minute_check check (rate_limit_per_minute >= 1),
      add constraint applications_quota_per_month_check check (quota_per_month >= 1);`);
    this.addSql(`create table usage_months (
      client_id text not null,
      month text not null check (month ~ '^[0-9]{4}-[0-9]{2}$'),
      requests bigint not null check (requests >= 0),
      primary key (client_id, month)
    );`);
  }
}
