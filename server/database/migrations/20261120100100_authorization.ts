import { Migration } from '@mikro-orm/migrations';

export class Authorization extends Migration {
  override name = '20261120100100_authorization';

  override up(): void {
    this.addSql(`create table applications (
      id bigint generated always as identity primary key,
      client_id text not null constraint applications_client_id_unique unique check (client_id ~ '^[a-z][a-z0-9_-]{1,63}$'),
      name text not null check (length(name) >= 1 and length(name) <= 100),
      type text not null check (type in ('public', 'confidential')),
      secret_hashes text[] not null default '{}',
      previous_secret_hash text null,
      previous_secret_until timestamptz(3) null,
      redirect_uris text[] not null default '{}',
      post_logout_redirect_uris text[] not null default '{}',
      logo_uri text null,
      scopes text[] not null default '{}',
      preapproved_scopes text[] not null default '{}',
      grant_types text[] not null default '{}',
      status text not null default 'active' check (status in ('active', 'disabled')),
      first_party boolean not null default false,
      version int not null default 1,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now()
    );`);
    this.addSql(`create table oauth_records (
      model text not null,
      id text not null,
      payload text not null,
      grant_id text null,
      user_code text null,
      uid text null,
      account_id text null,
      client_id text null,
      expires_at timestamptz(3) null,
      consumed_at timestamptz(3) null,
      poll_after timestamptz(3) null,
      poll_interval int null,
      primary key (model, id)
    );`);
    this.addSql('create index oauth_records_grant on oauth_records (grant_id) where grant_id is not null;');
    this.addSql('create index oauth_records_uid on oauth_records (uid) where uid is not null;');
    this.addSql('create index oauth_records_account on oauth_records (account_id) where account_id is not null;');
    this.addSql('create index oauth_records_expiry on oauth_records (expires_at);');
    this.addSql('create unique index oauth_records_user_code on oauth_records (user_code) where user_code is not null;');
    this.addSql(`create table passwords (
      user_id bigint primary key
        constraint passwords_user_id_foreign references users (id) on update no action on delete cascade,
      hash text not null,
      changed_at timestamptz(3) not null
    );`);
    this.addSql(`create table consents (
      user_id bigint not null constraint consents_user_id_foreign references users (id) on update no action on delete cascade,
      application_id bigint not null
        constraint consents_application_id_foreign references applications (id) on update no action on delete cascade,
      scopes text[] not null,
      granted_at timestamptz(3) not null,
      primary key (user_id, application_id)
    );`);
    this.addSql(`create table signing_keys (
      kid text primary key,
      algorithm text not null check (algorithm in ('ES256', 'RS256')),
      encrypted_jwk text not null,
      created_at timestamptz(3) not null,
      signs_from timestamptz(3) not null,
      retires_at timestamptz(3) null
    );`);
  }
}
