import { Migration } from '@mikro-orm/migrations';

/** Orders imported before have no fingerprint; the next import compares them with their lines and totals. */
export class ImportFingerprints extends Migration {
  override name = '20261122135000_import_fingerprints';

  override up(): void {
    this.addSql(`alter table "imported_orders" add column "fingerprint" text null;`);
    this.addSql(`alter table "tasks" add column "imported" jsonb null;`);
  }
}
