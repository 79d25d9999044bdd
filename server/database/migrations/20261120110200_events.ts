import { Migration } from '@mikro-orm/migrations';

export class Events extends Migration {
  override name = '20261120110200_events';

  override up(): void {
    this.addSql(
      `create table "events" ("id" bigint generated always as identity not null primary key, "seq" bigint null, "type" text not null, "api_version" text not null default 'v1', "user_id" bigint null, "subject_type" text not null, "subject_id" bigint not null, "subject_version" int null, "data" jsonb not null, "created_at" timestamptz(3) not null default now());`,
    );
    this.addSql(`create index "events_without_seq" on "events" ("id") where seq is null;`);
    this.addSql(`create index "events_user_seq" on "events" ("user_id", "seq");`);
    this.addSql(`create index "events_subject" on "events" ("subject_type", "subject_id", "id");`);
    this.addSql(`alter table "events" add constraint "events_seq" unique ("seq");`);
  }
}
