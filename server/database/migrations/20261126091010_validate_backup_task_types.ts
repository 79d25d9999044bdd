import { Migration } from '@mikro-orm/migrations';

/** Validates the check of the previous migration without blocking writes. */
export class ValidateBackupTaskTypes extends Migration {
  override name = '20261126091010_validate_backup_task_types';

  override up(): void {
    this.addSql(`alter table "tasks" validate constraint "tasks_type_check";`);
  }
}
