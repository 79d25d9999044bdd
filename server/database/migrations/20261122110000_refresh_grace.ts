import { Migration } from '@mikro-orm/migrations';

export class RefreshGrace extends Migration {
  override name = '20261122110000_refresh_grace';

  override up(): void {
    this.addSql(`alter table applications
      add column refresh_grace_seconds int null,
      add constraint applications_refresh_grace_seconds_check check (refresh_grace_seconds >= 0 and refresh_grace_seconds <= 300);`);
  }
}
