import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/**
 * Adds limits that restrict orders to products in certain categories. Like this migration, the SQL file must not change after a release.
 */
export class OrderCategories extends Migration {
  override name = '20261124190000_order_categories';

  override up(): void {
    this.addSql(`alter table "applications" add "order_categories_ceiling" text[] null;`);
    this.addSql(`alter table "order_limits" add "categories" text[] null;`);
    this.addSql(`alter table "order_limit_settings" add "maximum_categories" text[] null, add "default_categories" text[] null;`);
    const file = readFileSync(new URL('20261124190000_order_categories.sql', import.meta.url), 'utf8');
    // PGlite accepts one statement at a time.
    for (const statement of file.split(/;\n\n/)) this.addSql(statement);
  }
}
