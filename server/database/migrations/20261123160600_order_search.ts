import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Creates a database function, which entities cannot define. Like this migration, the SQL file must not change after a release. */
export class OrderSearch extends Migration {
  override name = '20261123160600_order_search';

  override up(): void {
    this.addSql(readFileSync(new URL('20261123160600_order_search.sql', import.meta.url), 'utf8'));
  }
}
