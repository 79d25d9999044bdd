import { Migration } from '@mikro-orm/migrations';

export class ListIndexes extends Migration {
  override name = '20261122131000_list_indexes';

  override up(): void {
    this.addSql(`create index orders_client_status_created on orders (client_id, status, created_at, id)`);
    this.addSql(`create index orders_updated on orders (updated_at, id)`);
    this.addSql(`create index orders_unusual_fulfillment_created on orders ((fulfillment_status || '/' || status), created_at, id)
      where (fulfillment_status || '/' || status) not in ('unfulfilled/pending', 'unfulfilled/paid', 'unfulfilled/canceled', 'shipped/shipped', 'delivered/delivered')`);
    this.addSql(`create index payments_status_created on payments (status, created_at, id)`);
    this.addSql(`create index refunds_status_created on refunds (status, created_at, id)`);
    this.addSql(`create index shipments_status_created on shipments (status, created_at, id)`);
    this.addSql(`create index shipments_tracking_number on shipments (tracking_number) where tracking_number is not null`);
  }
}
