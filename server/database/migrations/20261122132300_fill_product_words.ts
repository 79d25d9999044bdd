import { Migration } from '@mikro-orm/migrations';

/**
 * In a transaction of its own, after the trigger is committed: requests read products and place orders meanwhile. A change to a product
 * waits while the index is created, which is faster after the table is filled.
 */
export class FillProductWords extends Migration {
  override name = '20261122132300_fill_product_words';

  override up(): void {
    this.addSql(`insert into product_words (word)
      select distinct found.word from product_search s cross join lateral words_to_correct_to(s.words) found (word)`);
    // New words are rare, and no search should read a list of words that are not in the index yet.
    this.addSql(`create index product_words_trigrams on product_words using gin (word gin_trgm_ops) with (fastupdate = off)`);
  }
}
