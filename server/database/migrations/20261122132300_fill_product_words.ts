import { Migration } from '@mikro-orm/migrations';

/**
 * Runs in a separate transaction after the trigger has been committed, so that requests can read products and place orders in the meantime.
 * Product changes wait while the index is created. Creating the index is faster after the table has been filled.
 */
export class FillProductWords extends Migration {
  override name = '20261122132300_fill_product_words';

  override up(): void {
    this.addSql(`insert into product_words (word)
      select distinct found.word from product_search s cross join lateral words_to_correct_to(s.words) found (word)`);
    // Because new words are rare, they are added to the index immediately, so that searches do not have to scan a list of pending words.
    this.addSql(`create index product_words_trigrams on product_words using gin (word gin_trgm_ops) with (fastupdate = off)`);
  }
}
