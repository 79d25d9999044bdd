import { Migration } from '@mikro-orm/migrations';

export class Migration20261124180010_validate_back_channel_logout extends Migration {
  override name = 'Migration20261124180010_validate_back_channel_logout';

  override up(): void | Promise<void> {
    this.addSql(`alter table "applications" validate constraint "applications_backchannel_logout_uri_check";`);
  }
}
