import { Migration } from '@mikro-orm/migrations';

export class Migration20261122100000_self_registered_applications extends Migration {
  override name = 'Migration20261122100000_self_registered_applications';

  override up(): void | Promise<void> {
    this.addSql(`alter table "applications" drop constraint "applications_client_id_check";`);
    this.addSql(
      `alter table "applications" add "registration" text not null default 'administrator', add "metadata_expires_at" timestamptz(3) null, add "last_consent_at" timestamptz(3) null;`,
    );
    this.addSql(
      `alter table "applications" add constraint "applications_registration_check" check ("registration" in ('administrator', 'registration_token', 'open_registration', 'metadata_document'));`,
    );
    this.addSql(
      `alter table "applications" add constraint "applications_client_id_check" check (length(client_id) <= 500 and client_id ~ '^([a-z][a-z0-9_-]{1,63}|https://[!-~]+)\$');`,
    );
  }
}
