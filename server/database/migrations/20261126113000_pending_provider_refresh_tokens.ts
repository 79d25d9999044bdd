import { Migration } from '@mikro-orm/migrations';

/** Refresh tokens of identity provider accounts that are not linked until the user opens a link in an e-mail. */
export class PendingProviderRefreshTokens extends Migration {
  override name = '20261126113000_pending_provider_refresh_tokens';

  override up(): void {
    this.addSql(`alter table "mailed_links" add column "sealed_refresh_token" text null;`);
  }
}
