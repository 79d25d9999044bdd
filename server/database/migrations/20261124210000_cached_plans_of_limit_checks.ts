import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/**
 * Creates and replaces database functions, which entities cannot define. Like this migration, the SQL file must not change after a release.
 */
export class CachedPlansOfLimitChecks extends Migration {
  override name = '20261124210000_cached_plans_of_limit_checks';

  override up(): void {
    const file = readFileSync(new URL('20261124210000_cached_plans_of_limit_checks.sql', import.meta.url), 'utf8');
    // PGlite accepts one statement at a time.
    for (const statement of file.split(/;\n\n/)) this.addSql(statement);
  }
}
