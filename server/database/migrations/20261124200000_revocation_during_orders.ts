import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Functions that the entities cannot express. The SQL file must not change after a release, just like this migration. */
export class RevocationDuringOrders extends Migration {
  override name = '20261124200000_revocation_during_orders';

  override up(): void {
    const file = readFileSync(new URL('20261124200000_revocation_during_orders.sql', import.meta.url), 'utf8');
    // PGlite accepts one statement at a time.
    for (const statement of file.split(/;\n\n/)) this.addSql(statement);
  }
}
