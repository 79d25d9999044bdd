import { Migration } from '@mikro-orm/migrations';

/** The backups in the backup directory, and the tasks that create and check them. */
export class BackupFiles extends Migration {
  override name = '20261126091000_backup_files';

  override up(): void {
    this.addSql(
      `create table "backup_files" ("id" bigint generated always as identity not null primary key, "file_name" text not null, "created_at" timestamptz(3) not null, "bytes" bigint not null, "row_count" bigint not null, "checked_at" timestamptz(3) null, "check_result" text null);`,
    );
    this.addSql(`alter table "backup_files" add constraint "backup_files_file_name_unique" unique ("file_name");`);
    this.addSql(`create index "backup_files_created" on "backup_files" ("created_at", "id");`);
    this.addSql(
      `alter table "backup_files" add constraint "backup_files_check_result_check" check ("check_result" in ('intact', 'damaged'));`,
    );
    this.addSql(`alter table "backup_files" add constraint "backup_files_checked" check ((checked_at is null) = (check_result is null));`);
    this.addSql(`alter table "tasks"
      drop constraint "tasks_type_check",
      add constraint "tasks_type_check"
        check ("type" in ('order_export', 'order_import', 'product_import', 'user_export', 'user_import', 'backup', 'backup_check')) not valid;`);
  }
}
