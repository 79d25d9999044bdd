import { Migration } from '@mikro-orm/migrations';

/** Validates the checks of the previous migration without blocking writes. */
export class ValidateIdTokenAlgorithms extends Migration {
  override name = '20261125200010_validate_id_token_algorithms';

  override up(): void {
    this.addSql(`alter table "applications" validate constraint "applications_id_token_signed_response_alg_check";`);
    this.addSql(`alter table "signing_keys" validate constraint "signing_keys_algorithm_check";`);
  }
}
