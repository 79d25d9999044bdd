import { Migration } from '@mikro-orm/migrations';

/** Applications whose authorization requests must be signed. */
export class RequireSignedRequestObject extends Migration {
  override name = '20261126033100_require_signed_request_object';

  override up(): void {
    this.addSql('alter table applications add column require_signed_request_object boolean not null default false;');
  }
}
