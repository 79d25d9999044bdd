import { Migration } from '@mikro-orm/migrations';

/** Imported users, and the tasks that import and export users. */
export class UserImports extends Migration {
  override name = '20261125231900_user_imports';

  override up(): void {
    this.addSql(`create table "imported_users" (
      "user_id" bigint not null,
      "source" text not null,
      "external_id" text null,
      "fingerprint" text null,
      "metadata" jsonb not null,
      "consented_at" timestamptz(3) null,
      primary key ("user_id"),
      constraint "imported_users_source_external_id" unique ("source", "external_id"),
      constraint "imported_users_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete cascade
    );`);
    this.addSql(`alter table "tasks"
      drop constraint "tasks_type_check",
      add constraint "tasks_type_check"
        check ("type" in ('order_export', 'order_import', 'product_import', 'user_export', 'user_import')) not valid;`);
  }
}
