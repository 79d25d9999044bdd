import { Migration } from '@mikro-orm/migrations';

/** Validates the check of the previous migration without blocking writes. */
export class ValidateSecurityProfile extends Migration {
  override name = '20261124190010_validate_security_profile';

  override up(): void {
    this.addSql(`alter table "applications" validate constraint "applications_security_profile_check";`);
  }
}
