import { Migration } from '@mikro-orm/migrations';

export class Migration20261127090010_validate_application_links extends Migration {
  override name = 'Migration20261127090010_validate_application_links';

  override up(): void | Promise<void> {
    this.addSql(`alter table "applications" validate constraint "applications_policy_uri_check";`);
    this.addSql(`alter table "applications" validate constraint "applications_tos_uri_check";`);
  }
}
