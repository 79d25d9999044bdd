import { Migration } from '@mikro-orm/migrations';

export class Payments extends Migration {
  override name = '20261120110300_payments';

  override up(): void {
    this.addSql(
      `create table "provider_events" ("provider" text not null, "event_id" text not null, "type" text not null, "subject" text not null, "reference" text not null, "received_at" timestamptz(3) not null default now(), "attempts" int not null default 0, "next_attempt_at" timestamptz(3) not null default now(), "processed_at" timestamptz(3) null, "error" text null, primary key ("provider", "event_id"));`,
    );
    this.addSql(`create index "provider_events_waiting" on "provider_events" ("next_attempt_at") where processed_at is null;`);

    this.addSql(
      `create table "shipments" ("id" bigint generated always as identity not null primary key, "order_id" bigint not null, "status" text not null, "carrier" text null, "tracking_number" text null, "tracking_url" text null, "items" jsonb not null, "version" int not null default 1, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now(), "shipped_at" timestamptz(3) null, "delivered_at" timestamptz(3) null);`,
    );
    this.addSql(`create index "shipments_order" on "shipments" ("order_id", "id");`);

    this.addSql(
      `create table "payments" ("id" bigint generated always as identity not null primary key, "order_id" bigint not null, "attempt" int not null, "provider" text not null, "status" text not null, "amount" bigint not null, "currency" char(3) not null, "refunded_amount" bigint not null default '0', "surplus" boolean not null default false, "provider_reference" text null, "provider_key" uuid not null default gen_random_uuid(), "request" jsonb null, "next_action" jsonb null, "failure_code" text null, "failure_message" text null, "next_check_at" timestamptz(3) null, "version" int not null default 1, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now(), "succeeded_at" timestamptz(3) null);`,
    );
    this.addSql(
      `create index "payments_next_check" on "payments" ("next_check_at") where status in ('pending', 'requires_action', 'processing');`,
    );
    this.addSql(`alter table "payments" add constraint "payments_attempt" unique ("order_id", "attempt");`);
    this.addSql(
      `create unique index "payments_one_open" on "payments" ("order_id") where status in ('pending', 'requires_action', 'processing');`,
    );
    this.addSql(`create unique index "payments_one_paid" on "payments" ("order_id") where status = 'succeeded' and not surplus;`);
    this.addSql(
      `create unique index "payments_provider_reference" on "payments" ("provider", "provider_reference") where provider_reference is not null;`,
    );

    this.addSql(
      `create table "refunds" ("id" bigint generated always as identity not null primary key, "order_id" bigint not null, "payment_id" bigint not null, "status" text not null, "amount" bigint not null, "currency" char(3) not null, "reason" text not null, "note" text null, "restock" jsonb not null, "provider_reference" text null, "provider_key" uuid not null default gen_random_uuid(), "failure_code" text null, "actor" text not null, "next_check_at" timestamptz(3) null, "version" int not null default 1, "created_at" timestamptz(3) not null default now(), "updated_at" timestamptz(3) not null default now());`,
    );
    this.addSql(`create index "refunds_order" on "refunds" ("order_id", "id");`);
    this.addSql(`create index "refunds_payment" on "refunds" ("payment_id");`);
    this.addSql(`create index "refunds_provider_reference" on "refunds" ("provider_reference") where provider_reference is not null;`);
    this.addSql(`create index "refunds_next_check" on "refunds" ("next_check_at") where status = 'pending';`);

    this.addSql(`alter table "provider_events" add constraint "provider_events_subject_check" check ("subject" in ('payment', 'refund'));`);

    this.addSql(
      `alter table "shipments" add constraint "shipments_order_id_foreign" foreign key ("order_id") references "orders" ("id") on update no action on delete no action;`,
    );
    this.addSql(`alter table "shipments" add constraint "shipments_carrier_check" check (length(carrier) <= 64);`);
    this.addSql(`alter table "shipments" add constraint "shipments_tracking_number_check" check (length(tracking_number) <= 100);`);
    this.addSql(`alter table "shipments" add constraint "shipments_tracking_url_check" check (length(tracking_url) <= 2048);`);
    this.addSql(
      `alter table "shipments" add constraint "shipments_status_check" check ("status" in ('pending', 'shipped', 'delivered', 'failed', 'canceled'));`,
    );

    this.addSql(
      `alter table "payments" add constraint "payments_order_id_foreign" foreign key ("order_id") references "orders" ("id") on update no action on delete no action;`,
    );
    this.addSql(`alter table "payments" add constraint "payments_amount_check" check (amount > 0);`);
    this.addSql(
      `alter table "payments" add constraint "payments_refunded_amount_check" check (refunded_amount >= 0 and refunded_amount <= amount);`,
    );
    this.addSql(`alter table "payments" add constraint "payments_provider_check" check ("provider" in ('manual', 'test', 'stripe'));`);
    this.addSql(
      `alter table "payments" add constraint "payments_status_check" check ("status" in ('pending', 'requires_action', 'processing', 'succeeded', 'failed', 'canceled'));`,
    );
    this.addSql(
      `alter table "payments" add constraint "payments_failure_code_check" check ("failure_code" in ('card_declined', 'insufficient_funds', 'expired_card', 'authentication_failed', 'provider_unavailable', 'canceled', 'unknown'));`,
    );

    this.addSql(
      `alter table "refunds" add constraint "refunds_order_id_foreign" foreign key ("order_id") references "orders" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "refunds" add constraint "refunds_payment_id_foreign" foreign key ("payment_id") references "payments" ("id") on update no action on delete no action;`,
    );
    this.addSql(`alter table "refunds" add constraint "refunds_amount_check" check (amount > 0);`);
    this.addSql(`alter table "refunds" add constraint "refunds_note_check" check (length(note) <= 500);`);
    this.addSql(
      `alter table "refunds" add constraint "refunds_status_check" check ("status" in ('pending', 'succeeded', 'failed', 'canceled'));`,
    );
    this.addSql(
      `alter table "refunds" add constraint "refunds_reason_check" check ("reason" in ('requested_by_customer', 'duplicate', 'fraudulent', 'order_canceled', 'damaged', 'other'));`,
    );
  }
}
