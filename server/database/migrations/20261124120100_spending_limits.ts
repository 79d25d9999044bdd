import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/**
 * Creates functions that are shared by orders, payments and responses. Like this migration, the SQL file must not change after a release.
 */
export class SpendingLimits extends Migration {
  override name = '20261124120100_spending_limits';

  override up(): void {
    const file = readFileSync(new URL('20261124120100_spending_limits.sql', import.meta.url), 'utf8');
    // PGlite accepts one statement at a time.
    for (const statement of file.split(/;\n\n/)) this.addSql(statement);
  }
}
