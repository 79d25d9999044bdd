import { Migration } from '@mikro-orm/migrations';

/** Previously imported orders have no fingerprint, so the next import compares their lines and totals instead. */
export class ImportFingerprints extends Migration {
  override name = '20261122135000_import_fingerprints';

  override up(): void {
    this.addSql(`alter table "imported_orders" add column "fingerprint" text null;`);
    this.addSql(`alter table "tasks" add column "imported" jsonb null;`);
  }
}
