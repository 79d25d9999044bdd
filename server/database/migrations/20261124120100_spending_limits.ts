import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Functions that orders, payments and responses share. The SQL file must not change after a release, just like this migration. */
export class SpendingLimits extends Migration {
  override name = '20261124120100_spending_limits';

  override up(): void {
    const file = readFileSync(new URL('20261124120100_spending_limits.sql', import.meta.url), 'utf8');
    // PGlite accepts one statement at a time.
    for (const statement of file.split(/;\n\n/)) this.addSql(statement);
  }
}
