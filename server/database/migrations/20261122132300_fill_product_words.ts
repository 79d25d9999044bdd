import { Migration } from '@mikro-orm/migrations';

/** In a transaction of its own, after the trigger is committed: requests read products, change them and place orders meanwhile. */
export class FillProductWords extends Migration {
  override name = '20261122132300_fill_product_words';

  override up(): void {
    this.addSql(`insert into product_words (word)
      select distinct found.word from product_search s cross join lateral words_to_correct_to(s.words) found (word)`);
  }
}
