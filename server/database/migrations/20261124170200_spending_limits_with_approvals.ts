import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/**
 * Lets an approval replace only the limits that the customer set. The SQL file must not change after a release, just like this migration.
 */
export class SpendingLimitsWithApprovals extends Migration {
  override name = '20261124170200_spending_limits_with_approvals';

  override up(): void {
    this.addSql(`alter table budgeted_orders add column approved boolean not null default false;`);
    const file = readFileSync(new URL('20261124170200_spending_limits_with_approvals.sql', import.meta.url), 'utf8');
    // PGlite accepts one statement at a time.
    for (const statement of file.split(/;\n\n/)) this.addSql(statement);
  }
}
