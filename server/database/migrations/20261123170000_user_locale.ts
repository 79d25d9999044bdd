import { Migration } from '@mikro-orm/migrations';

export class UserLocale extends Migration {
  override name = '20261123170000_user_locale';

  override up(): void {
    this.addSql(`alter table "users" add column "locale" text null;`);
  }
}
