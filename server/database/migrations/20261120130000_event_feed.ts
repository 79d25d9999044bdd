import { Migration } from '@mikro-orm/migrations';

export class EventFeed extends Migration {
  override name = '20261120130000_event_feed';

  override up(): void {
    this.addSql(`create table event_sequence (
      id int primary key check (id = 1),
      last_seq bigint not null default '0',
      swept_seq bigint not null default '0'
    );`);
    this.addSql('insert into event_sequence (id) values (1);');
  }
}
