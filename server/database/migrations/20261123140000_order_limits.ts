import { Migration } from '@mikro-orm/migrations';

/** Limits that customers set for an application's orders, and the orders that count toward these limits. */
export class OrderLimits extends Migration {
  override name = '20261123140000_order_limits';

  override up(): void {
    this.addSql(`create table order_limits (
      grant_id text not null primary key,
      actions text[] not null,
      currency char(3) null,
      per_order bigint null check (per_order >= 1),
      per_period bigint null check (per_period >= 1),
      period text null check (period in ('day', 'week', 'month')),
      time_zone text not null default 'UTC',
      valid_until timestamptz(3) null,
      created_at timestamptz(3) not null default now(),
      updated_at timestamptz(3) not null default now(),
      constraint order_limits_currency check (currency is not null or (per_order is null and per_period is null)),
      constraint order_limits_period check ((per_period is null) = (period is null)));`);
    this.addSql(`create table budgeted_orders (
      grant_id text not null,
      order_id bigint not null,
      counted_at timestamptz(3) not null,
      primary key (grant_id, order_id));`);
    this.addSql(`create index budgeted_orders_grant_counted on budgeted_orders (grant_id, counted_at);`);
    this.addSql(`create index budgeted_orders_counted on budgeted_orders (counted_at);`);
    this.addSql(`create function mandate_budget_starts_v1(p_period text, p_time_zone text, p_at timestamptz) returns timestamptz
      stable parallel safe language sql as $$ select date_trunc(p_period, p_at, p_time_zone) $$`);
    this.addSql(`create function mandate_budget_ends_v1(p_period text, p_time_zone text, p_at timestamptz) returns timestamptz
      stable parallel safe language sql as $$
        select (date_trunc(p_period, p_at at time zone p_time_zone) + ('1 ' || p_period)::interval) at time zone p_time_zone $$`);
    // Canceled orders and refunded amounts do not count, so the amount needs no update when an order is canceled, expires or is refunded.
    this.addSql(`create function mandate_budget_spent_v1(p_grant_id text, p_currency text, p_since timestamptz) returns bigint
      stable parallel safe language sql as $$
        select coalesce(sum(o.total - o.refunded_total), 0)::bigint
          from budgeted_orders b join orders o on o.id = b.order_id
         where b.grant_id = p_grant_id and b.counted_at >= p_since and o.status <> 'canceled' and o.currency = p_currency $$`);
  }
}
