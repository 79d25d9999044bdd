import { Migration } from '@mikro-orm/migrations';

/** Adds the URL for logout tokens to `applications`, and the queue of logout tokens. */
export class Migration20261124180000_back_channel_logout extends Migration {
  override name = 'Migration20261124180000_back_channel_logout';

  override up(): void | Promise<void> {
    this.addSql(`alter table "applications" add "backchannel_logout_uri" text null;`);
    this.addSql(
      `alter table "applications" add constraint "applications_backchannel_logout_uri_check" check (length(backchannel_logout_uri) <= 2000) not valid;`,
    );
    this.addSql(
      `create table "logout_notifications" ("id" bigint generated always as identity not null primary key, "application_id" bigint not null, "account_id" text not null, "sid" text not null, "attempts" int not null default 0, "due_at" timestamptz(3) not null, "created_at" timestamptz(3) not null);`,
    );
    this.addSql(`create index "logout_notifications_due" on "logout_notifications" ("due_at");`);
    this.addSql(`create index "logout_notifications_application" on "logout_notifications" ("application_id");`);
    this.addSql(
      `alter table "logout_notifications" add constraint "logout_notifications_application_id_foreign" foreign key ("application_id") references "applications" ("id") on update no action on delete cascade;`,
    );
  }
}
