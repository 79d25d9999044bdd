import { readFileSync } from 'node:fs';
import { Migration } from '@mikro-orm/migrations';

/** Creates database objects that entities cannot define. Like this migration, the SQL file must not change after a release. */
export class ProductWords extends Migration {
  override name = '20261122132200_product_words';

  override up(): void {
    const file = readFileSync(new URL('20261122132200_product_words.sql', import.meta.url), 'utf8');
    // PGlite accepts one statement at a time.
    for (const statement of file.split(/;\n\n/)) this.addSql(statement);
    this.addSql(`create or replace function products_index_words_fn() returns trigger as $$ begin ${indexWords} end; $$ language plpgsql`);
  }
}

const indexWords = `
  if (old.name, old.sku, old.description) is distinct from (new.name, new.sku, new.description) then
    insert into product_search (product_id, words)
    values (new.id, product_search_words(new.name, new.sku, new.description))
    on conflict (product_id) do update set words = excluded.words;
    insert into product_words (word)
    select found.word from product_search s cross join lateral words_to_correct_to(s.words) found (word)
     where s.product_id = new.id and not exists (select from product_words known where known.word = found.word);
  end if;
  return null;`;
