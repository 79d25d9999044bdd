import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';
import { createTrigramExtension } from '../connection/create-trigram-extension.ts';

/** Creates database objects that entities cannot define. Like this migration, the SQL file must not change after a release. */
export class ProductSearch extends Migration {
  override name = '20261122132000_product_search';

  override async up(): Promise<void> {
    await createTrigramExtension((statement) => this.execute(statement));
    const file = readFileSync(new URL('20261122132000_product_search.sql', import.meta.url), 'utf8');
    // PGlite accepts one statement at a time.
    for (const statement of file.split(/;\n\n/)) this.addSql(statement);
    this.addSql(`create function products_index_words_fn() returns trigger as $$ begin ${indexWords} end; $$ language plpgsql`);
    this.addSql(`create trigger index_words after insert or update on products for each row execute function products_index_words_fn()`);
  }
}

const indexWords = `
  if (old.name, old.sku, old.description) is distinct from (new.name, new.sku, new.description) then
    insert into product_search (product_id, words, title)
    select new.id, found.words, found.title from product_search_row(new.name, new.sku, new.description) found
    on conflict (product_id) do update set words = excluded.words, title = excluded.title;
  end if;
  return null;`;
