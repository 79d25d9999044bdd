import { Migration } from '@mikro-orm/migrations';

/** Refresh tokens of identity providers, and the linked accounts through which users signed in. */
export class ProviderRefreshTokens extends Migration {
  override name = '20261126033000_provider_refresh_tokens';

  override up(): void {
    this.addSql(
      `alter table "linked_accounts" add column "sealed_refresh_token" text null, add column "check_due_at" timestamptz(3) null, add column "is_check_pending" boolean not null default false;`,
    );
    this.addSql(`alter table "browser_sessions" add column "linked_account_id" bigint null;`);
    this.addSql(`alter table "connections" add column "linked_account_id" bigint null;`);
  }
}
