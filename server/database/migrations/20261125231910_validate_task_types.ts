import { Migration } from '@mikro-orm/migrations';

/** Validates the check of the previous migration without blocking writes. */
export class ValidateTaskTypes extends Migration {
  override name = '20261125231910_validate_task_types';

  override up(): void {
    this.addSql(`alter table "tasks" validate constraint "tasks_type_check";`);
  }
}
