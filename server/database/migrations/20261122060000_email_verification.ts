import { Migration } from '@mikro-orm/migrations';

export class EmailVerification extends Migration {
  override name = '20261122060000_email_verification';

  override up(): void {
    this.addSql(`alter table users add column email_verification text not null default 'unverified'
      constraint users_email_verification_check check (email_verification in ('unverified', 'verified', 'confirmation_required'))`);
    // Every existing password was set through a link sent to the address, or by the administrator who installed the server.
    this.addSql(`update users set email_verification = 'verified' where id in (select user_id from passwords)`);
  }
}
