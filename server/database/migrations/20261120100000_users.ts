import { Migration } from '@mikro-orm/migrations';

export class Users extends Migration {
  override name = '20261120100000_users';

  override up(): void {
    this.addSql(`create table users (
      id bigint generated always as identity primary key,
      name text not null check (length(name) >= 1 and length(name) <= 200),
      email text not null check (length(email) >= 3 and length(email) <= 254),
      status text not null default 'active' check (status in ('active', 'suspended', 'closed')),
      role text not null default 'customer' check (role in ('customer', 'staff', 'admin')),
      version int not null default 1,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now()
    );`);
    this.addSql(`create unique index users_email_unique on users (lower(email)) where status <> 'closed';`);
    this.addSql('create index users_created on users (created_at, id);');
  }
}
