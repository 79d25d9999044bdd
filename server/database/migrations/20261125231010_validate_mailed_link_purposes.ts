import { Migration } from '@mikro-orm/migrations';

/** Validates the check of the previous migration without blocking writes. */
export class ValidateMailedLinkPurposes extends Migration {
  override name = '20261125231010_validate_mailed_link_purposes';

  override up(): void {
    this.addSql(`alter table "mailed_links" validate constraint "mailed_links_purpose_check";`);
  }
}
