import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Creates database functions, which entities cannot define. Like this migration, the SQL file must not change after a release. */
export class RevocationDuringOrders extends Migration {
  override name = '20261124200000_revocation_during_orders';

  override up(): void {
    const file = readFileSync(new URL('20261124200000_revocation_during_orders.sql', import.meta.url), 'utf8');
    // PGlite accepts one statement at a time.
    for (const statement of file.split(/;\n\n/)) this.addSql(statement);
  }
}
