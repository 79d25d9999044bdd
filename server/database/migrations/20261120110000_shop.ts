import { Migration } from '@mikro-orm/migrations';

export class Migration20261120110000_shop extends Migration {
  override name = 'Migration20261120110000_shop';

  override up(): void {
    this.addSql(
      `create table "delivery_methods" ("code" text not null, "name" text not null, "price" bigint not null, "currency" char(3) not null, "requires_address" boolean not null default true, "active" boolean not null default true, "version" int not null default 1, primary key ("code"));`,
    );

    this.addSql(
      `create table "idempotency_keys" ("caller" text not null, "operation" text not null, "key" text not null, "request_hash" text not null, "status" int null, "location" text null, "body" text null, "created_at" timestamptz(3) not null default now(), primary key ("caller", "operation", "key"));`,
    );
    this.addSql(`create index "idempotency_keys_created" on "idempotency_keys" using brin ("created_at");`);

    this.addSql(
      `create table "products" ("id" bigint generated always as identity not null primary key, "sku" text not null, "name" text not null, "description" text not null default '', "category" text not null, "price" bigint not null, "currency" char(3) not null, "tax_rate_bps" int not null default 0, "status" text not null default 'draft', "metadata" jsonb not null default '{}', "version" int not null default 1, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now());`,
    );
    this.addSql(`create index "products_status_created" on "products" ("status", "created_at", "id");`);
    this.addSql(`create index "products_category_price" on "products" ("category", "price", "id") where status = 'active';`);
    this.addSql(`create index "products_price" on "products" ("price", "id") where status = 'active';`);
    this.addSql(`create index "products_name" on "products" ("name", "id") where status = 'active';`);
    this.addSql(`alter table "products" add constraint "products_sku_unique" unique ("sku");`);

    this.addSql(`create table "product_stock" ("product_id" bigint not null, "available" int not null, primary key ("product_id"));`);

    this.addSql(
      `create table "stock_adjustments" ("id" bigint generated always as identity not null primary key, "product_id" bigint not null, "delta" int not null, "stock_after" int not null, "reason" text not null, "note" text null, "actor" text not null, "created_at" timestamptz(3) not null default now());`,
    );
    this.addSql(`create index "stock_adjustments_product" on "stock_adjustments" ("product_id", "created_at", "id");`);

    this.addSql(
      `create table "orders" ("id" bigint generated always as identity not null primary key, "user_id" bigint not null, "client_id" text null, "status" text not null, "payment_status" text not null default 'unpaid', "fulfillment_status" text not null default 'unfulfilled', "cancel_reason" text null, "currency" char(3) not null, "tax_mode" text not null default 'inclusive', "subtotal" bigint not null, "discount_total" bigint not null default '0', "shipping_total" bigint not null, "tax_total" bigint not null, "total" bigint not null, "refunded_total" bigint not null default '0', "item_count" int not null, "delivery" jsonb not null, "reference" text null, "note" text null, "metadata" jsonb not null default '{}', "version" int not null default 1, "expires_at" timestamptz(3) null, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now(), "paid_at" timestamptz(3) null, "shipped_at" timestamptz(3) null, "delivered_at" timestamptz(3) null, "canceled_at" timestamptz(3) null);`,
    );
    this.addSql(`create index "orders_status_created" on "orders" ("status", "created_at", "id");`);
    this.addSql(`create index "orders_user_status_created" on "orders" ("user_id", "status", "created_at", "id");`);
    this.addSql(
      `create index orders_both_statuses_created on orders ((payment_status || '/' || status), created_at, id) where payment_status <> 'unpaid';`,
    );
    this.addSql(`create index "orders_expiry" on "orders" ("expires_at") where status = 'pending';`);
    this.addSql(`create index "orders_reference" on "orders" ("reference") where reference is not null;`);

    this.addSql(
      `create table "order_items" ("order_id" bigint not null, "line" int not null, "product_id" bigint not null, "sku" text not null, "name" text not null, "unit_price" bigint not null, "quantity" int not null, "shipped_quantity" int not null default 0, "restocked_quantity" int not null default 0, "tax_rate_bps" int not null, "tax" bigint not null, "total" bigint not null, primary key ("order_id", "line"));`,
    );
    this.addSql(`create index "order_items_product" on "order_items" ("product_id", "order_id");`);

    this.addSql(`alter table "delivery_methods" add constraint "delivery_methods_code_check" check (code ~ '^[a-z0-9_]{1,32}\$');`);
    this.addSql(
      `alter table "delivery_methods" add constraint "delivery_methods_name_check" check (length(name) >= 1 and length(name) <= 200);`,
    );
    this.addSql(`alter table "delivery_methods" add constraint "delivery_methods_price_check" check (price >= 0 and price <= 999999999);`);
    this.addSql(`alter table "delivery_methods" add constraint "delivery_methods_currency_check" check (currency ~ '^[A-Z]{3}\$');`);

    this.addSql(
      `alter table "idempotency_keys" add constraint "idempotency_keys_key_check" check (length(key) >= 1 and length(key) <= 255);`,
    );

    this.addSql(`alter table "products" add constraint "products_sku_check" check (length(sku) >= 1 and length(sku) <= 64);`);
    this.addSql(`alter table "products" add constraint "products_name_check" check (length(name) >= 1 and length(name) <= 200);`);
    this.addSql(`alter table "products" add constraint "products_description_check" check (length(description) <= 5000);`);
    this.addSql(
      `alter table "products" add constraint "products_category_check" check (length(category) >= 1 and length(category) <= 64);`,
    );
    this.addSql(`alter table "products" add constraint "products_price_check" check (price >= 0 and price <= 999999999);`);
    this.addSql(`alter table "products" add constraint "products_currency_check" check (currency ~ '^[A-Z]{3}\$');`);
    this.addSql(`alter table "products" add constraint "products_tax_rate_bps_check" check (tax_rate_bps >= 0 and tax_rate_bps <= 10000);`);
    this.addSql(`alter table "products" add constraint "products_status_check" check ("status" in ('draft', 'active', 'archived'));`);

    this.addSql(
      `alter table "product_stock" add constraint "product_stock_product_id_foreign" foreign key ("product_id") references "products" ("id") on update no action on delete no action;`,
    );
    this.addSql(`alter table "product_stock" add constraint "product_stock_available_check" check (available >= 0);`);

    this.addSql(
      `alter table "stock_adjustments" add constraint "stock_adjustments_product_id_foreign" foreign key ("product_id") references "products" ("id") on update no action on delete no action;`,
    );
    this.addSql(`alter table "stock_adjustments" add constraint "stock_adjustments_delta_check" check (delta <> 0);`);
    this.addSql(`alter table "stock_adjustments" add constraint "stock_adjustments_stock_after_check" check (stock_after >= 0);`);
    this.addSql(`alter table "stock_adjustments" add constraint "stock_adjustments_note_check" check (length(note) <= 500);`);
    this.addSql(
      `alter table "stock_adjustments" add constraint "stock_adjustments_reason_check" check ("reason" in ('received', 'correction', 'damaged', 'returned'));`,
    );

    this.addSql(
      `alter table "orders" add constraint "orders_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "orders" add constraint "orders_unpaid" check (payment_status <> 'unpaid' or status in ('pending', 'canceled'));`,
    );
    this.addSql(
      `alter table "orders" add constraint "orders_total_inclusive" check (tax_mode <> 'inclusive' or total = subtotal - discount_total + shipping_total);`,
    );
    this.addSql(
      `alter table "orders" add constraint "orders_total_exclusive" check (tax_mode <> 'exclusive' or total = subtotal - discount_total + shipping_total + tax_total);`,
    );
    this.addSql(`alter table "orders" add constraint "orders_subtotal_check" check (subtotal >= 0);`);
    this.addSql(
      `alter table "orders" add constraint "orders_discount_total_check" check (discount_total >= 0 and discount_total <= subtotal);`,
    );
    this.addSql(`alter table "orders" add constraint "orders_shipping_total_check" check (shipping_total >= 0);`);
    this.addSql(`alter table "orders" add constraint "orders_tax_total_check" check (tax_total >= 0);`);
    this.addSql(`alter table "orders" add constraint "orders_total_check" check (total >= 0 and total <= 9007199254740991);`);
    this.addSql(
      `alter table "orders" add constraint "orders_refunded_total_check" check (refunded_total >= 0 and refunded_total <= total);`,
    );
    this.addSql(`alter table "orders" add constraint "orders_item_count_check" check (item_count >= 1 and item_count <= 2000);`);
    this.addSql(`alter table "orders" add constraint "orders_reference_check" check (length(reference) <= 64);`);
    this.addSql(`alter table "orders" add constraint "orders_note_check" check (length(note) <= 1000);`);
    this.addSql(
      `alter table "orders" add constraint "orders_status_check" check ("status" in ('pending', 'paid', 'shipped', 'delivered', 'canceled'));`,
    );
    this.addSql(
      `alter table "orders" add constraint "orders_payment_status_check" check ("payment_status" in ('unpaid', 'paid', 'partially_refunded', 'refunded'));`,
    );
    this.addSql(
      `alter table "orders" add constraint "orders_fulfillment_status_check" check ("fulfillment_status" in ('unfulfilled', 'partial', 'shipped', 'delivered'));`,
    );
    this.addSql(
      `alter table "orders" add constraint "orders_cancel_reason_check" check ("cancel_reason" in ('customer', 'staff', 'payment_expired', 'payment_failed', 'fraud', 'out_of_stock'));`,
    );
    this.addSql(`alter table "orders" add constraint "orders_tax_mode_check" check ("tax_mode" in ('inclusive', 'exclusive'));`);

    this.addSql(
      `alter table "order_items" add constraint "order_items_order_id_foreign" foreign key ("order_id") references "orders" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "order_items" add constraint "order_items_product_id_foreign" foreign key ("product_id") references "products" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "order_items" add constraint "order_items_shipped" check (shipped_quantity >= 0 and shipped_quantity <= quantity);`,
    );
    this.addSql(
      `alter table "order_items" add constraint "order_items_restocked" check (restocked_quantity >= 0 and restocked_quantity <= quantity);`,
    );
    this.addSql(`alter table "order_items" add constraint "order_items_quantity_check" check (quantity >= 1 and quantity <= 100000);`);
  }
}
