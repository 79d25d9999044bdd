import { Migration } from '@mikro-orm/migrations';

/** Validates the check of the previous migration without blocking writes. */
export class ValidateCertificateAuthMethod extends Migration {
  override name = '20261126033010_validate_certificate_auth_method';

  override up(): void {
    this.addSql(`alter table "applications" validate constraint "applications_certificate_auth_method_check";`);
  }
}
