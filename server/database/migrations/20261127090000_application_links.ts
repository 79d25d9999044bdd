import { Migration } from '@mikro-orm/migrations';

/** Adds the links to the privacy policy and the terms of service to `applications`. */
export class Migration20261127090000_application_links extends Migration {
  override name = 'Migration20261127090000_application_links';

  override up(): void | Promise<void> {
    for (const column of ['policy_uri', 'tos_uri']) {
      this.addSql(`alter table "applications" add "${column}" text null;`);
      this.addSql(`alter table "applications" add constraint "applications_${column}_check" check (length(${column}) <= 500) not valid;`);
    }
  }
}
