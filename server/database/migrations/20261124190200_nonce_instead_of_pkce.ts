import { Migration } from '@mikro-orm/migrations';

export class NonceInsteadOfPkce extends Migration {
  override name = '20261124190200_nonce_instead_of_pkce';

  override up(): void {
    this.addSql('alter table applications add column allow_nonce_instead_of_pkce boolean not null default false;');
  }
}
