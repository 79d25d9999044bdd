import { Migration } from '@mikro-orm/migrations';

/** Order limits that administrators set for one application or for all third-party applications. */
export class OrderLimitCeilings extends Migration {
  override name = '20261124120000_order_limit_ceilings';

  override up(): void {
    this.addSql(`alter table applications add column order_limits_ceiling jsonb null;`);
    this.addSql(`alter table order_limits add column set_by_user boolean not null default true;`);
    this.addSql(`create table order_limit_settings (
      id int not null,
      maximum_limits jsonb null,
      default_limits jsonb null,
      version int not null default 1,
      primary key (id),
      constraint order_limit_settings_id_check check (id = 1));`);
  }
}
