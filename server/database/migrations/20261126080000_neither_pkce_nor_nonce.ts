import { Migration } from '@mikro-orm/migrations';

export class NeitherPkceNorNonce extends Migration {
  override name = '20261126080000_neither_pkce_nor_nonce';

  override up(): void {
    this.addSql('alter table applications add column allow_neither_pkce_nor_nonce boolean not null default false;');
  }
}
