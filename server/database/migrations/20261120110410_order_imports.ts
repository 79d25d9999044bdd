import { Migration } from '@mikro-orm/migrations';

export class OrderImports extends Migration {
  override name = '20261120110410_order_imports';

  override up(): void {
    this.addSql(
      `create table "imported_orders" ("source" text not null, "reference" text not null, "order_id" bigint not null, primary key ("source", "reference"));`,
    );
    this.addSql(`alter table "imported_orders" add constraint "imported_orders_order_id_unique" unique ("order_id");`);
    this.addSql(
      `create table "imported_customers" ("source" text not null, "key" text not null, "user_id" bigint not null, primary key ("source", "key"));`,
    );
    this.addSql(`create index "imported_customers_user" on "imported_customers" ("user_id");`);
    this.addSql(
      `alter table "imported_orders" add constraint "imported_orders_order_id_foreign" foreign key ("order_id") references "orders" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "imported_customers" add constraint "imported_customers_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete no action;`,
    );
  }
}
