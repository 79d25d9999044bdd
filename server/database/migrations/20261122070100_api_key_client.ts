import { Migration } from '@mikro-orm/migrations';

export class Migration20261122070100_api_key_client extends Migration {
  override name = 'Migration20261122070100_api_key_client';

  override up(): void | Promise<void> {
    this.addSql(`alter table "api_keys" add "created_by_client_id" text null;`);
  }
}
