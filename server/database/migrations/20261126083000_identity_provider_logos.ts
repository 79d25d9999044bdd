import { Migration } from '@mikro-orm/migrations';

/** Uploaded logos of identity providers. Uploaded logos replace the `data:` URIs that the API used before the first release. */
export class IdentityProviderLogos extends Migration {
  override name = '20261126083000_identity_provider_logos';

  override up(): void {
    this.addSql(
      `alter table "identity_providers" drop column "logo_uri", add column "logo_hash" text null, add column "logo_media_type" text null, add column "logo_width" int null, add column "logo_height" int null, add column "logo_content" bytea null;`,
    );
    this.addSql(
      `alter table "identity_providers" add constraint "identity_providers_logo_content_check" check (length(logo_content) >= 1 and length(logo_content) <= 262144);`,
    );
  }
}
