import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/**
 * Lets an approval override the limits that the customer set, but no other limits. Like this migration, the SQL file must not change after
 * a release.
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
