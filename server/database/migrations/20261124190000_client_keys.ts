import { Migration } from '@mikro-orm/migrations';

/** Public keys (or their URL) of applications that authenticate with `private_key_jwt`, and the security profile of each application. */
export class ClientKeys extends Migration {
  override name = '20261124190000_client_keys';

  override up(): void {
    this.addSql(`alter table "applications"
      add column "jwks" jsonb null,
      add column "jwks_uri" text null,
      add column "security_profile" text null,
      add constraint "applications_security_profile_check" check ("security_profile" in ('fapi2')) not valid;`);
  }
}
