import { Migration } from '@mikro-orm/migrations';

export class Migration20261120164749_webhooks extends Migration {
  override name = 'Migration20261120164749_webhooks';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "webhook_endpoints" ("id" bigint generated always as identity not null primary key, "authority" text not null, "client_id" text not null, "user_id" bigint null, "application_id" bigint null, "api_key_id" bigint null, "scopes" text[] not null, "url" text not null, "events" text[] not null, "description" text null, "status" text not null default 'enabled', "disabled_reason" text null, "sealed_secret" text not null, "previous_sealed_secret" text null, "previous_secret_until" timestamptz(3) null, "failing_since" timestamptz(3) null, "paused_until" timestamptz(3) null, "version" int not null default 1, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now());`,
    );
    this.addSql(`create index "webhook_endpoints_user" on "webhook_endpoints" ("user_id") where user_id is not null;`);
    this.addSql(`create index "webhook_endpoints_application" on "webhook_endpoints" ("application_id") where application_id is not null;`);
    this.addSql(`create index "webhook_endpoints_api_key" on "webhook_endpoints" ("api_key_id") where api_key_id is not null;`);

    this.addSql(
      `create table "webhook_deliveries" ("id" bigint generated always as identity not null primary key, "endpoint_id" bigint not null, "event_id" bigint not null, "seq" bigint not null, "status" text not null default 'pending', "attempts" int not null default 0, "tries" int not null default 0, "next_attempt_at" timestamptz(3) not null, "log" jsonb not null default '[]', "created_at" timestamptz(3) not null default now(), "finished_at" timestamptz(3) null);`,
    );
    this.addSql(
      `create index "webhook_deliveries_due" on "webhook_deliveries" ("endpoint_id", "next_attempt_at") where status = 'pending';`,
    );
    this.addSql(`create index "webhook_deliveries_endpoint_seq" on "webhook_deliveries" ("endpoint_id", "seq");`);
    this.addSql(`alter table "webhook_deliveries" add constraint "webhook_deliveries_event_endpoint" unique ("event_id", "endpoint_id");`);

    this.addSql(`alter table "connections" add "scopes" text[] not null default '{}';`);

    this.addSql(
      `alter table "webhook_endpoints" add constraint "webhook_endpoints_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete cascade;`,
    );
    this.addSql(
      `alter table "webhook_endpoints" add constraint "webhook_endpoints_application_id_foreign" foreign key ("application_id") references "applications" ("id") on update no action on delete cascade;`,
    );
    this.addSql(
      `alter table "webhook_endpoints" add constraint "webhook_endpoints_api_key_id_foreign" foreign key ("api_key_id") references "api_keys" ("id") on update no action on delete cascade;`,
    );
    this.addSql(
      `alter table "webhook_endpoints" add constraint "webhook_endpoints_authority_person" check ((authority = 'application') = (user_id is null));`,
    );
    this.addSql(
      `alter table "webhook_endpoints" add constraint "webhook_endpoints_disabled" check ((status = 'disabled') = (disabled_reason is not null));`,
    );
    this.addSql(`alter table "webhook_endpoints" add constraint "webhook_endpoints_url_check" check (length(url) <= 2000);`);
    this.addSql(
      `alter table "webhook_endpoints" add constraint "webhook_endpoints_authority_check" check ("authority" in ('application', 'person', 'grant', 'api_key'));`,
    );
    this.addSql(
      `alter table "webhook_endpoints" add constraint "webhook_endpoints_status_check" check ("status" in ('enabled', 'disabled'));`,
    );
    this.addSql(
      `alter table "webhook_endpoints" add constraint "webhook_endpoints_disabled_reason_check" check ("disabled_reason" in ('manual', 'failing', 'gone', 'grant_revoked'));`,
    );

    this.addSql(
      `alter table "webhook_deliveries" add constraint "webhook_deliveries_endpoint_id_foreign" foreign key ("endpoint_id") references "webhook_endpoints" ("id") on update no action on delete cascade;`,
    );
    this.addSql(
      `alter table "webhook_deliveries" add constraint "webhook_deliveries_event_id_foreign" foreign key ("event_id") references "events" ("id") on update no action on delete cascade;`,
    );
    this.addSql(
      `alter table "webhook_deliveries" add constraint "webhook_deliveries_status_check" check ("status" in ('pending', 'succeeded', 'failed', 'skipped'));`,
    );
  }
}
