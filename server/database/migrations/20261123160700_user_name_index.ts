import { Migration } from '@mikro-orm/migrations';

export class UserNameIndex extends Migration {
  override name = '20261123160700_user_name_index';

  override up(): void {
    this.addSql(`create index users_name_search on users using gin (lower(name) gin_trgm_ops)`);
  }
}
