import { Migration } from '@mikro-orm/migrations';

/** Identity providers through which users can sign in, and the accounts at these providers that are linked to users. */
export class IdentityProviders extends Migration {
  override name = '20261125231000_identity_providers';

  override up(): void {
    this.addSql(
      `create table "linked_accounts" ("id" bigint generated always as identity not null primary key, "user_id" bigint not null, "issuer" text not null, "subject" text not null, "label" text not null, "linked_at" timestamptz(3) not null, "last_used_at" timestamptz(3) null);`,
    );
    this.addSql(`create index "linked_accounts_user" on "linked_accounts" ("user_id");`);
    this.addSql(`alter table "linked_accounts" add constraint "linked_accounts_issuer_subject" unique ("issuer", "subject");`);

    this.addSql(
      `create table "identity_providers" ("id" bigint generated always as identity not null primary key, "slug" text not null, "preset" text not null, "name" text not null, "issuer" text not null, "client_id" text not null, "token_endpoint_auth_method" text not null, "sealed_credential" text not null, "key_id" text null, "team_id" text null, "scopes" text[] not null, "button_label" text null, "logo_uri" text null, "audience" text not null, "email_domain" text null, "creates_accounts" boolean not null, "two_factor_values" text[] not null, "required_for_staff" boolean not null, "break_glass_user_id" bigint null, "status" text not null, "version" int not null default 1, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now());`,
    );
    this.addSql(`alter table "identity_providers" add constraint "identity_providers_slug_unique" unique ("slug");`);
    this.addSql(`alter table "identity_providers" add constraint "identity_providers_issuer_unique" unique ("issuer");`);
    this.addSql(
      `create index "identity_providers_break_glass_user" on "identity_providers" ("break_glass_user_id") where break_glass_user_id is not null;`,
    );

    this.addSql(
      `alter table "linked_accounts" add constraint "linked_accounts_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete cascade;`,
    );

    this.addSql(
      `alter table "identity_providers" add constraint "identity_providers_break_glass_user_id_foreign" foreign key ("break_glass_user_id") references "users" ("id") on update no action on delete set null;`,
    );
    this.addSql(
      `alter table "identity_providers" add constraint "identity_providers_slug_check" check (slug ~ '^[a-z0-9][a-z0-9-]{0,39}\$');`,
    );
    this.addSql(
      `alter table "identity_providers" add constraint "identity_providers_name_check" check (length(name) >= 1 and length(name) <= 60);`,
    );
    this.addSql(`alter table "identity_providers" add constraint "identity_providers_issuer_check" check (length(issuer) <= 500);`);
    this.addSql(
      `alter table "identity_providers" add constraint "identity_providers_preset_check" check ("preset" in ('google', 'apple', 'microsoft', 'oidc'));`,
    );
    this.addSql(
      `alter table "identity_providers" add constraint "identity_providers_token_endpoint_auth_method_check" check ("token_endpoint_auth_method" in ('client_secret_basic', 'client_secret_post', 'private_key_jwt', 'apple_client_secret'));`,
    );
    this.addSql(
      `alter table "identity_providers" add constraint "identity_providers_audience_check" check ("audience" in ('everyone', 'customers', 'staff'));`,
    );
    this.addSql(
      `alter table "identity_providers" add constraint "identity_providers_status_check" check ("status" in ('enabled', 'disabled'));`,
    );
    this.addSql(`alter table "mailed_links"
      drop constraint "mailed_links_purpose_check",
      add constraint "mailed_links_purpose_check" check ("purpose" in ('sign_up', 'password_reset', 'email_change', 'account_link')) not valid;`);
  }
}
