import { Migration } from '@mikro-orm/migrations';

/** Quotes, and the stock that they reserve. */
export class Quotes extends Migration {
  override name = '20261124100000_quotes';

  override up(): void {
    this.addSql(
      `create table "quotes" ("id" bigint generated always as identity not null primary key, "user_id" bigint not null, "client_id" text not null, "grant_id" text null, "currency" char(3) not null, "tax_mode" text not null, "subtotal" bigint not null, "discount_total" bigint not null, "shipping_total" bigint not null, "tax_total" bigint not null, "total" bigint not null, "items" jsonb not null, "delivery" jsonb not null, "reference" text null, "note" text null, "metadata" jsonb not null default '{}', "hold" boolean not null, "limits" jsonb null, "order_id" bigint null, "version" int not null default 1, "expires_at" timestamptz(3) not null, "converted_at" timestamptz(3) null, "canceled_at" timestamptz(3) null, "expiration_reported_at" timestamptz(3) null, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now());`,
    );
    this.addSql(`alter table "quotes" add constraint "quotes_order_id_unique" unique ("order_id");`);
    this.addSql(`create index "quotes_created" on "quotes" ("created_at", "id");`);
    this.addSql(`create index "quotes_user_created" on "quotes" ("user_id", "created_at", "id");`);
    this.addSql(`create index "quotes_client_created" on "quotes" ("client_id", "created_at", "id");`);
    this.addSql(
      `create index "quotes_expiration" on "quotes" ("expires_at") where order_id is null and canceled_at is null and expiration_reported_at is null;`,
    );
    this.addSql(`create index "quotes_deletion" on "quotes" ("expires_at") where order_id is null;`);

    this.addSql(
      `create table "quote_reservations" ("quote_id" bigint not null, "product_id" bigint not null, "quantity" int not null, primary key ("quote_id", "product_id"));`,
    );
    this.addSql(`create index "quote_reservations_product" on "quote_reservations" ("product_id");`);

    this.addSql(
      `alter table "quotes" add constraint "quotes_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "quotes" add constraint "quotes_order_id_foreign" foreign key ("order_id") references "orders" ("id") on update no action on delete no action;`,
    );
    this.addSql(`alter table "quotes" add constraint "quotes_converted" check ((order_id is null) = (converted_at is null));`);
    this.addSql(
      `alter table "quotes" add constraint "quotes_ended_once" check (num_nonnulls(order_id, canceled_at, expiration_reported_at) <= 1);`,
    );
    this.addSql(`alter table "quotes" add constraint "quotes_subtotal_check" check (subtotal >= 0);`);
    this.addSql(
      `alter table "quotes" add constraint "quotes_discount_total_check" check (discount_total >= 0 and discount_total <= subtotal);`,
    );
    this.addSql(`alter table "quotes" add constraint "quotes_shipping_total_check" check (shipping_total >= 0);`);
    this.addSql(`alter table "quotes" add constraint "quotes_tax_total_check" check (tax_total >= 0);`);
    this.addSql(`alter table "quotes" add constraint "quotes_total_check" check (total >= 0 and total <= 9007199254740991);`);
    this.addSql(`alter table "quotes" add constraint "quotes_reference_check" check (length(reference) <= 64);`);
    this.addSql(`alter table "quotes" add constraint "quotes_note_check" check (length(note) <= 1000);`);
    this.addSql(`alter table "quotes" add constraint "quotes_tax_mode_check" check ("tax_mode" in ('inclusive', 'exclusive'));`);

    this.addSql(
      `alter table "quote_reservations" add constraint "quote_reservations_quote_id_foreign" foreign key ("quote_id") references "quotes" ("id") on update no action on delete cascade;`,
    );
    this.addSql(
      `alter table "quote_reservations" add constraint "quote_reservations_product_id_foreign" foreign key ("product_id") references "products" ("id") on update no action on delete no action;`,
    );
    this.addSql(`alter table "quote_reservations" add constraint "quote_reservations_quantity_check" check (quantity >= 1);`);
  }
}
