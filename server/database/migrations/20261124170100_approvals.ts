import { Migration } from '@mikro-orm/migrations';

/** Approvals of orders by the customer, and the amount above which a customer must use a second factor to approve. */
export class Approvals extends Migration {
  override name = '20261124170100_approvals';

  override up(): void {
    this.addSql(
      `create table "approvals" ("id" bigint generated always as identity not null primary key, "quote_id" bigint not null, "user_id" bigint not null, "client_id" text not null, "grant_id" text not null, "message" text null, "reason" jsonb null, "expires_at" timestamptz(3) not null, "approved_at" timestamptz(3) null, "declined_at" timestamptz(3) null, "canceled_at" timestamptz(3) null, "used_at" timestamptz(3) null, "order_id" bigint null, "expiration_reported_at" timestamptz(3) null, "version" int not null default 1, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now());`,
    );
    this.addSql(`alter table "approvals" add constraint "approvals_order_id_unique" unique ("order_id");`);
    this.addSql(`create unique index "approvals_one_per_quote" on "approvals" ("quote_id") where canceled_at is null;`);
    this.addSql(`create index "approvals_quote" on "approvals" ("quote_id");`);
    this.addSql(`create index "approvals_user" on "approvals" ("user_id", "id");`);
    this.addSql(`create index "approvals_grant_created" on "approvals" ("grant_id", "created_at");`);
    this.addSql(
      `create index "approvals_expiration" on "approvals" ("expires_at") where declined_at is null and canceled_at is null and used_at is null and expiration_reported_at is null;`,
    );
    this.addSql(
      `create table "approval_settings" ("user_id" bigint not null primary key, "second_factor_above" bigint not null, "currency" char(3) not null, "updated_at" timestamptz(3) not null);`,
    );
    this.addSql(
      `alter table "approvals" add constraint "approvals_quote_id_foreign" foreign key ("quote_id") references "quotes" ("id") on update no action on delete cascade;`,
    );
    this.addSql(
      `alter table "approvals" add constraint "approvals_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "approvals" add constraint "approvals_order_id_foreign" foreign key ("order_id") references "orders" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "approvals" add constraint "approvals_used" check ((order_id is null) = (used_at is null) and (used_at is null or approved_at is not null));`,
    );
    this.addSql(
      `alter table "approvals" add constraint "approvals_ended_once" check (num_nonnulls(declined_at, canceled_at, used_at, expiration_reported_at) <= 1);`,
    );
    this.addSql(`alter table "approvals" add constraint "approvals_message_check" check (length(message) <= 500);`);
    this.addSql(
      `alter table "approval_settings" add constraint "approval_settings_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete cascade;`,
    );
    this.addSql(
      `alter table "approval_settings" add constraint "approval_settings_second_factor_above_check" check (second_factor_above >= 0);`,
    );
  }
}
