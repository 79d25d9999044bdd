import { Migration } from '@mikro-orm/migrations';

/** Signing algorithm for each application's ID tokens, and signing keys for all of these algorithms. */
export class IdTokenAlgorithms extends Migration {
  override name = '20261125200000_id_token_algorithms';

  override up(): void {
    this.addSql(`alter table "applications"
      add column "id_token_signed_response_alg" text null,
      add constraint "applications_id_token_signed_response_alg_check"
        check ("id_token_signed_response_alg" in ('RS256', 'ES256', 'PS256', 'EdDSA')) not valid;`);
    this.addSql(`alter table "signing_keys"
      drop constraint "signing_keys_algorithm_check",
      add constraint "signing_keys_algorithm_check" check ("algorithm" in ('RS256', 'ES256', 'PS256', 'EdDSA')) not valid;`);
  }
}
