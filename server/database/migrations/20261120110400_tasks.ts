import { Migration } from '@mikro-orm/migrations';

export class Tasks extends Migration {
  override name = '20261120110400_tasks';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "task_files" ("id" bigint generated always as identity not null primary key, "created_at" timestamptz(3) not null default now());`,
    );
    this.addSql(`create index "task_files_created" on "task_files" ("created_at");`);

    this.addSql(
      `create table "task_file_chunks" ("file_id" bigint not null, "position" int not null, "content" bytea not null, primary key ("file_id", "position"));`,
    );

    this.addSql(
      `create table "tasks" ("id" bigint generated always as identity not null primary key, "type" text not null, "status" text not null default 'queued', "owner" text not null, "user_id" bigint null, "client_id" text not null, "needs" text[] not null, "params" jsonb not null, "input_id" bigint null, "output_id" bigint null, "checkpoint" jsonb null, "processed" bigint not null default '0', "total" bigint null, "result" jsonb null, "error" jsonb null, "lease_until" timestamptz(3) not null default now(), "attempts" int not null default 0, "created_at" timestamptz(3) not null default now(), "started_at" timestamptz(3) null, "finished_at" timestamptz(3) null);`,
    );
    this.addSql(`create index "tasks_ready" on "tasks" ("lease_until") where status in ('queued', 'running');`);
    this.addSql(`create index "tasks_owner_created" on "tasks" ("owner", "created_at", "id");`);
    this.addSql(`create index "tasks_finished_at" on "tasks" ("finished_at") where finished_at is not null;`);

    this.addSql(
      `alter table "task_file_chunks" add constraint "task_file_chunks_file_id_foreign" foreign key ("file_id") references "task_files" ("id") on update no action on delete cascade;`,
    );
    this.addSql(
      `alter table "task_file_chunks" add constraint "task_file_chunks_content_check" check (length(content) >= 1 and length(content) <= 1048576);`,
    );

    this.addSql(
      `alter table "tasks" add constraint "tasks_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "tasks" add constraint "tasks_input_id_foreign" foreign key ("input_id") references "task_files" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "tasks" add constraint "tasks_output_id_foreign" foreign key ("output_id") references "task_files" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "tasks" add constraint "tasks_finished" check ((finished_at is not null) = (status in ('succeeded', 'failed', 'canceled')));`,
    );
    this.addSql(`alter table "tasks" add constraint "tasks_result" check ((result is not null) <= (status = 'succeeded'));`);
    this.addSql(`alter table "tasks" add constraint "tasks_processed_check" check (processed >= 0);`);
    this.addSql(
      `alter table "tasks" add constraint "tasks_type_check" check ("type" in ('order_export', 'order_import', 'product_import'));`,
    );
    this.addSql(
      `alter table "tasks" add constraint "tasks_status_check" check ("status" in ('queued', 'running', 'succeeded', 'failed', 'canceled'));`,
    );
  }
}
