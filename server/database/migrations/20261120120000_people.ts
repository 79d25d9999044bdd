import { Migration } from '@mikro-orm/migrations';

export class People extends Migration {
  override name = '20261120120000_people';

  override up(): void {
    this.limits();
    this.audit();
    this.apiKeys();
    this.connections();
    this.mail();
    this.secondFactors();
  }

  // The SQL statements in rate-limiter-flexible rely on this column order.
  private limits(): void {
    this.addSql(`create table attempts (
      key varchar(255) primary key,
      points int not null default 0,
      expire bigint null
    );`);
    this.addSql('create index attempts_expiry on attempts (expire);');
  }

  private audit(): void {
    this.addSql(`create table audit_events (
      id bigint generated always as identity primary key,
      occurred_at timestamptz(3) not null,
      action text not null,
      outcome text not null check (outcome in ('success', 'refused')),
      actor_id bigint null,
      user_id bigint null,
      client_id text null,
      subject text null,
      ip text null,
      user_agent text null check (length(user_agent) <= 300),
      details jsonb not null default '{}'
    );`);
    this.addSql('create index audit_events_occurred on audit_events (occurred_at, id);');
    this.addSql('create index audit_events_user on audit_events (user_id, occurred_at, id);');
    const refuse = `raise exception 'audit_events is only added to' using errcode = 'restrict_violation';`;
    this.addSql(
      `create function audit_events_only_added_fn() returns trigger as $$ begin ${refuse} end; $$ language plpgsql set search_path = pg_catalog`,
    );
    for (const [name, events] of [
      ['only_added', 'update or delete'],
      ['never_emptied', 'truncate'],
    ]) {
      this.addSql(
        `create trigger ${name} before ${events} on audit_events for each statement execute function audit_events_only_added_fn()`,
      );
    }
  }

  private apiKeys(): void {
    this.addSql(`create table api_keys (
      id bigint generated always as identity primary key,
      user_id bigint not null constraint api_keys_user_id_foreign references users (id) on update no action on delete cascade,
      name text not null check (length(name) >= 1 and length(name) <= 100),
      prefix text not null,
      secret_hash text not null constraint api_keys_secret_hash_unique unique,
      scopes text[] not null,
      created_at timestamptz(3) not null,
      expires_at timestamptz(3) not null,
      last_used_at timestamptz(3) null,
      revoked_at timestamptz(3) null
    );`);
    this.addSql('create index api_keys_user on api_keys (user_id, id);');
  }

  private connections(): void {
    this.addSql(`create table connections (
      id bigint generated always as identity primary key,
      grant_id text not null constraint connections_grant_id_unique unique,
      user_id bigint not null constraint connections_user_id_foreign references users (id) on update no action on delete cascade,
      client_id text not null,
      device text null check (length(device) <= 100),
      created_at timestamptz(3) not null,
      last_used_at timestamptz(3) null
    );`);
    this.addSql('create index connections_user on connections (user_id, id);');
    this.addSql(`create table browser_sessions (
      uid text primary key,
      user_id bigint not null constraint browser_sessions_user_id_foreign references users (id) on update no action on delete cascade,
      device text null check (length(device) <= 100),
      ip text null,
      started_at timestamptz(3) not null,
      last_used_at timestamptz(3) not null
    );`);
    this.addSql('create index browser_sessions_user on browser_sessions (user_id);');
  }

  private mail(): void {
    this.addSql(`create table outgoing_mails (
      id bigint generated always as identity primary key,
      sealed text not null,
      attempts int not null default 0,
      due_at timestamptz(3) not null,
      created_at timestamptz(3) not null
    );`);
    this.addSql('create index outgoing_mails_due on outgoing_mails (due_at);');
    this.addSql(`create table mailed_links (
      token_hash text primary key,
      purpose text not null check (purpose in ('sign_up', 'password_reset', 'email_change')),
      user_id bigint null constraint mailed_links_user_id_foreign references users (id) on update no action on delete cascade,
      email text not null,
      expires_at timestamptz(3) not null
    );`);
    this.addSql('create index mailed_links_user on mailed_links (user_id);');
    this.addSql('create index mailed_links_expiry on mailed_links (expires_at);');
  }

  private secondFactors(): void {
    this.addSql(`create table authenticator_apps (
      user_id bigint primary key
        constraint authenticator_apps_user_id_foreign references users (id) on update no action on delete cascade,
      sealed_secret text not null,
      last_step bigint not null,
      added_at timestamptz(3) not null
    );`);
    this.addSql(`create table recovery_codes (
      user_id bigint not null constraint recovery_codes_user_id_foreign references users (id) on update no action on delete cascade,
      hash text not null,
      primary key (user_id, hash)
    );`);
    this.addSql(`create table passkeys (
      id bigint generated always as identity primary key,
      user_id bigint not null constraint passkeys_user_id_foreign references users (id) on update no action on delete cascade,
      credential_id text not null constraint passkeys_credential_id_unique unique,
      public_key text not null,
      counter bigint not null,
      transports text[] not null default '{}',
      name text not null check (length(name) >= 1 and length(name) <= 100),
      added_at timestamptz(3) not null,
      last_used_at timestamptz(3) null
    );`);
    this.addSql('create index passkeys_user on passkeys (user_id);');
    this.addSql(`create table challenges (
      challenge text primary key,
      expires_at timestamptz(3) not null
    );`);
    this.addSql('create index challenges_expiry on challenges (expires_at);');
  }
}
