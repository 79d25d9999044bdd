-- Until the new sums are complete, no change may be folded. The lock is released when the migration's transaction ends.
select pg_advisory_xact_lock(7310461200);

-- Each group's sums exist in these widths, from narrow to wide; every row of a width consists of whole rows of the width before. A product is
-- rarely sold more than once in an hour, so that hours would take as much space as quarters of an hour: products have no hours.
create or replace function order_statistics_widths(p_dimension text) returns text[] immutable language sql as $$
  select case p_dimension when 'product' then array['15 minutes', '6 hours', 'day', '5 days', 'month']
              else array['15 minutes', '1 hour', '6 hours', 'day', '5 days', 'month'] end
$$;

-- Calculates the sums of a width (a level from 2 to 6) from the sums of the next narrower width, and returns the number of rows.
create or replace function add_order_statistics_of_level(p_level int) returns bigint language plpgsql set work_mem to '64MB' as $$
declare added bigint;
begin
  insert into order_statistics (dimension, currency, width, starts_at, key, orders, paid_orders, items, revenue, refunds, refunded)
  select s.dimension, s.currency, w.width, order_statistics_start(w.width, s.starts_at), s.key, sum(s.orders), sum(s.paid_orders),
         sum(s.items), sum(s.revenue), sum(s.refunds), sum(s.refunded)
    from (values ('status'), ('application'), ('product'), ('category')) d (dimension)
   cross join lateral (select (order_statistics_widths(d.dimension))[p_level - 1] as narrower,
                              (order_statistics_widths(d.dimension))[p_level] as width) w
    join order_statistics s on s.dimension = d.dimension and s.width = w.narrower
   where w.width is not null
   group by 1, 2, 3, 4, 5
   order by 1, 2, 3, 4, 5;
  get diagnostics added = row_count;
  return added;
end
$$;

-- Calculates all sums again and returns the number of rows. One statement reads the orders and removes the changes that their current state
-- already contains, so that concurrent transactions are counted exactly once. The rows are inserted in the order in which queries read them.
create or replace function mandate_rebuild_order_statistics_v1() returns bigint language plpgsql set work_mem to '64MB' as $$
declare written bigint;
begin
  perform pg_advisory_xact_lock(7310461200);
  delete from order_statistics;
  with removed as (delete from order_statistics_changes),
  order_sums as materialized (
    select date_bin('15 minutes', c.at, '2000-01-01 00:00:00+00') as starts_at, c.currency, c.status, c.client_id, sum(c.orders) as orders,
           sum(c.paid_orders) as paid_orders, sum(c.items) as items, sum(c.revenue) as revenue, sum(c.refunds) as refunds,
           sum(c.refunded) as refunded
      from (
        select o.created_at as at, o.currency, o.status, o.client_id, 1 as orders, 0 as paid_orders, 0 as items, 0::bigint as revenue,
               0 as refunds, 0::bigint as refunded
          from orders o
        union all
        select o.paid_at, o.currency, o.status, o.client_id, 0, 1, 0, o.total, 0, 0 from orders o where o.paid_at is not null
        union all
        select o.paid_at, o.currency, o.status, o.client_id, 0, 0, i.quantity, 0, 0, 0
          from orders o join order_items i on i.order_id = o.id where o.paid_at is not null
        union all
        select r.created_at, o.currency, o.status, o.client_id, 0, 0, 0, 0, 1, r.amount
          from refunds r join orders o on o.id = r.order_id join payments p on p.id = r.payment_id
         where r.status = 'succeeded' and not p.surplus
      ) c
     group by 1, 2, 3, 4
  ),
  line_sums as materialized (
    select date_bin('15 minutes', o.paid_at, '2000-01-01 00:00:00+00') as starts_at, o.currency, i.product_id, sum(i.quantity) as items,
           sum(i.total) as revenue
      from orders o join order_items i on i.order_id = o.id
     where o.paid_at is not null
     group by 1, 2, 3
  )
  insert into order_statistics (dimension, currency, width, starts_at, key, orders, paid_orders, items, revenue, refunds, refunded)
  select 'status', s.currency, '15 minutes', s.starts_at, s.status, sum(s.orders), sum(s.paid_orders), sum(s.items), sum(s.revenue),
         sum(s.refunds), sum(s.refunded)
    from order_sums s group by s.currency, s.starts_at, s.status
  union all
  select 'application', s.currency, '15 minutes', s.starts_at, coalesce(s.client_id, ''), sum(s.orders), sum(s.paid_orders), sum(s.items),
         sum(s.revenue), sum(s.refunds), sum(s.refunded)
    from order_sums s group by s.currency, s.starts_at, coalesce(s.client_id, '')
  union all
  select 'product', l.currency, '15 minutes', l.starts_at, l.product_id::text, 0, 0, l.items, l.revenue, 0, 0 from line_sums l
  union all
  select 'category', l.currency, '15 minutes', l.starts_at, p.category, 0, 0, sum(l.items), sum(l.revenue), 0, 0
    from line_sums l join products p on p.id = l.product_id group by l.currency, l.starts_at, p.category
   order by 1, 2, 4, 5;
  get diagnostics written = row_count;
  for level in 2..6 loop
    written := written + add_order_statistics_of_level(level);
  end loop;
  return written;
end
$$;

insert into order_statistics (dimension, currency, width, starts_at, key, orders, paid_orders, items, revenue, refunds, refunded)
select s.dimension, s.currency, '6 hours', order_statistics_start('6 hours', s.starts_at), s.key, sum(s.orders), sum(s.paid_orders),
       sum(s.items), sum(s.revenue), sum(s.refunds), sum(s.refunded)
  from order_statistics s where s.dimension <> 'product' and s.width = '1 hour' group by 1, 2, 4, 5;

-- Divides periods into whole rows. Both ends of a period are rounded to the nearest start of a wider row as long as this reduces the number
-- of rows. `sign` is -1 for rows that the wider rows contain although they are outside the period. Products have no rows of an hour, so that
-- their ends are not rounded to hours.
create or replace function order_statistics_spans(p_dimension text, p_starts timestamptz[], p_ends timestamptz[])
returns table (n bigint, width text, starts_at timestamptz, ends_at timestamptz, sign int) stable rows 100 language sql as $$
  with bounds as materialized (
    select b.at, array[b.at, hour.at, six_hours.at, day.at, five_days.at,
                       date_trunc('month', (five_days.at at time zone 'UTC') + interval '15 days') at time zone 'UTC'] as rounded
      from (select unnest(p_starts) union select unnest(p_ends)) b (at)
     cross join lateral (
       select case p_dimension when 'product' then b.at else date_bin('1 hour', b.at + interval '30 minutes', '2000-01-01 00:00:00+00') end
       offset 0) hour (at)
     cross join lateral (select date_bin('6 hours', hour.at + interval '3 hours', '2000-01-01 00:00:00+00') offset 0) six_hours (at)
     cross join lateral (select date_bin('1 day', six_hours.at + interval '12 hours', '2000-01-01 00:00:00+00') offset 0) day (at)
     cross join lateral (select order_statistics_start('5 days', day.at + interval '48 hours') offset 0) five_days (at)
  ),
  periods as materialized (
    select p.n, s.rounded as starts, e.rounded as ends,
           case when is_order_statistics_span_short(s.rounded[1], e.rounded[1], s.rounded[2], e.rounded[2]) then 1
                when is_order_statistics_span_short(s.rounded[2], e.rounded[2], s.rounded[3], e.rounded[3]) then 2
                when is_order_statistics_span_short(s.rounded[3], e.rounded[3], s.rounded[4], e.rounded[4]) then 3
                when is_order_statistics_span_short(s.rounded[4], e.rounded[4], s.rounded[5], e.rounded[5]) then 4
                when is_order_statistics_span_short(s.rounded[5], e.rounded[5], s.rounded[6], e.rounded[6]) then 5
                else 6 end as last_level
      from unnest(p_starts, p_ends) with ordinality as p (starts_at, ends_at, n)
      join bounds s on s.at = p.starts_at
      join bounds e on e.at = p.ends_at
  )
  select p.n, (array['15 minutes', case p_dimension when 'product' then '15 minutes' else '1 hour' end, '6 hours', 'day', '5 days', 'month'])[s.level],
         least(s.a, s.b), greatest(s.a, s.b), case when s.a < s.b then 1 else -1 end
    from periods p
   cross join lateral (
     select l.level, v.a, v.b from generate_series(1, p.last_level - 1) l (level)
      cross join lateral (values (p.starts[l.level], p.starts[l.level + 1]), (p.ends[l.level + 1], p.ends[l.level])) v (a, b)
     union all
     select p.last_level, p.starts[p.last_level], p.ends[p.last_level]
   ) s (level, a, b)
   where s.a <> s.b
$$;

-- The start of a local day. If its first hour occurs twice because the clocks go back, the first occurrence counts. PostgreSQL can evaluate
-- this expression inside a query, without calling the function.
create or replace function local_day_start(p_day date, p_time_zone text) returns timestamptz stable language sql as $$
  select least(p_day::timestamp at time zone p_time_zone,
               case when ((p_day::timestamp at time zone p_time_zone - interval '30 minutes') at time zone p_time_zone)::date >= p_day
                    then p_day::timestamp at time zone p_time_zone - interval '30 minutes' end,
               case when ((p_day::timestamp at time zone p_time_zone - interval '1 hour') at time zone p_time_zone)::date >= p_day
                    then p_day::timestamp at time zone p_time_zone - interval '1 hour' end)
$$;

-- The periods from the first to the last local day, both included. Hours are real hours that begin with each day. Each day's start is
-- calculated once.
create or replace function statistics_periods(p_from date, p_to date, p_interval text, p_time_zone text)
returns table (starts_at timestamptz, ends_at timestamptz) stable rows 50 language sql as $$
  with days as (
    select greatest(p_from, first::date) as first
      from generate_series(date_trunc(replace(p_interval, 'hour', 'day'), p_from::timestamp), p_to::timestamp,
                           ('1 ' || replace(p_interval, 'hour', 'day'))::interval) first
     union all
    select p_to + 1
  ),
  starts as (select d.first, local_day_start(d.first, p_time_zone) as at from days d),
  bounds as (
    select s.first, s.at as starts_at, lead(s.at) over (order by s.first) as ends_at from starts s
  )
  select b.starts_at, b.ends_at from bounds b where p_interval <> 'hour' and b.first <= p_to
  union all
  select hour, least(hour + interval '1 hour', b.ends_at)
    from bounds b cross join lateral generate_series(b.starts_at, b.ends_at - interval '1 second', interval '1 hour') hour
   where p_interval = 'hour' and b.first <= p_to
$$;

-- The sum of a type that PostgreSQL's own `sum` would convert to the much slower numeric.
create aggregate bigint_sum(bigint) (sfunc = int8pl, stype = bigint);

drop function order_statistics_sums(text, text, timestamptz[], timestamptz[], text[]);

-- The sums of each period and group, with the changes that are not folded yet. Adjacent periods share rows near their common end, which are
-- read once. `offset 0` makes PostgreSQL read each range by the index. The currency has the type of the column, because the index cannot be
-- searched for a text. Compiling the query would take longer than running it. Periods do not overlap, so that a binary search finds the
-- period of a change.
create function order_statistics_sums(p_dimension text, p_currency text, p_starts timestamptz[], p_ends timestamptz[], p_keys text[])
returns table (period bigint, key text, orders bigint, paid_orders bigint, items bigint, revenue bigint, refunds bigint, refunded bigint)
stable language plpgsql set jit to off set enable_mergejoin to off set work_mem to '16MB' as $$
begin
  return query
  with spans as materialized (
    select dense_rank() over (order by s.starts_at, s.ends_at, s.width) as range, s.n, s.width, s.starts_at, s.ends_at, s.sign
      from order_statistics_spans(p_dimension, p_starts, p_ends) s
  ),
  ranges as (select distinct on (s.range) s.range, s.width, s.starts_at, s.ends_at from spans s order by s.range),
  steps as (
    select r.range, r.width, r.starts_at, r.ends_at,
           case when r.starts_at between lag(r.ends_at) over before
                                     and lag(r.ends_at) over before + case when p_dimension = 'product' and r.width = '6 hours'
                                                                           then interval '1 day' else interval '0' end
                then 0 else 1 end as step
      from ranges r
    window before as (partition by r.width order by r.starts_at, r.ends_at)
  ),
  numbered as (
    select r.range, r.width, r.starts_at, r.ends_at, sum(r.step) over (partition by r.width order by r.starts_at, r.ends_at) as scan
      from steps r
  ),
  scans as materialized (
    select r.width, min(r.starts_at) as starts_at, max(r.ends_at) as ends_at, array_agg(b.at order by b.at, b.range) as bounds,
           array_agg(b.range order by b.at, b.range) as ranges
      from numbered r cross join lateral (values (r.starts_at, r.range), (r.ends_at, 0)) b (at, range)
     group by r.width, r.scan
  ),
  found as (
    select c.ranges[width_bucket(s.starts_at, c.bounds)] as range, s.key, s.orders, s.paid_orders, s.items, s.revenue, s.refunds, s.refunded
      from scans c
     cross join lateral (
       select t.starts_at, t.key, t.orders, t.paid_orders, t.items, t.revenue, t.refunds, t.refunded from order_statistics t
        where (p_keys is null or p_dimension <> 'product') and t.dimension = p_dimension and t.currency = p_currency::char(3)
          and t.width = c.width and t.starts_at >= c.starts_at and t.starts_at < c.ends_at
       offset 0) s
     where p_keys is null or s.key = any (p_keys)
    union all
    select c.ranges[width_bucket(s.starts_at, c.bounds)], wanted.key, 0, 0, s.items, s.revenue, 0, 0
      from scans c cross join unnest(p_keys) as wanted (key)
     cross join lateral (
       select t.starts_at, t.items, t.revenue from order_statistics t
        where p_dimension = 'product' and t.dimension = 'product' and t.key = wanted.key and t.currency = p_currency::char(3)
          and t.width = c.width and t.starts_at >= c.starts_at and t.starts_at < c.ends_at
       offset 0) s
  ),
  range_sums as (
    select f.range, f.key, bigint_sum(f.orders) as orders, bigint_sum(f.paid_orders) as paid_orders, bigint_sum(f.items) as items,
           bigint_sum(f.revenue) as revenue, bigint_sum(f.refunds) as refunds, bigint_sum(f.refunded) as refunded
      from found f group by f.range, f.key
  ),
  sorted as materialized (
    -- A day that a time zone skipped has no length, and comes before the day that starts at the same time.
    select array_agg(p.n order by p.starts_at, p.ends_at) as numbers, array_agg(p.starts_at order by p.starts_at) as starts,
           array_agg(p.ends_at order by p.starts_at, p.ends_at) as ends
      from unnest(p_starts, p_ends) with ordinality as p (starts_at, ends_at, n)
  ),
  changed as (
    select p.numbers[i.index] as n, c.product_id, c.status, c.client_id, sum(c.orders) as orders, sum(c.paid_orders) as paid_orders,
           bigint_sum(c.items) as items, bigint_sum(c.revenue) as revenue, sum(c.refunds) as refunds, bigint_sum(c.refunded) as refunded
      from order_statistics_changes c
     cross join sorted p
     cross join lateral (select width_bucket(c.at, p.starts) as index offset 0) i
     where c.currency = p_currency::char(3) and c.at < p.ends[i.index] and (c.product_id is null) = (p_dimension in ('status', 'application'))
     group by 1, 2, 3, 4
  ),
  signed as (
    select s.n, f.key, s.sign * f.orders as orders, s.sign * f.paid_orders as paid_orders, s.sign * f.items as items,
           s.sign * f.revenue as revenue, s.sign * f.refunds as refunds, s.sign * f.refunded as refunded
      from range_sums f join spans s on s.range = f.range
    union all
    select c.n, g.key, c.orders, c.paid_orders, c.items, c.revenue, c.refunds, c.refunded
      from changed c cross join lateral order_statistics_groups(c.product_id, c.status, c.client_id) g
     where g.dimension = p_dimension and (p_keys is null or g.key = any (p_keys))
  )
  select f.n, f.key, bigint_sum(f.orders), bigint_sum(f.paid_orders), bigint_sum(f.items), bigint_sum(f.revenue), bigint_sum(f.refunds),
         bigint_sum(f.refunded)
    from signed f group by f.n, f.key;
end
$$;

-- One row per period (`part` is `period` or `previous_period`); with a dimension, also one row for each of the groups with the most revenue
-- (`group`, in this order, and `previous_group`), one row for each of their periods (`group_period`), and the number of groups (`groups`).
-- The previous period is read only for the groups with the most revenue.
create or replace function mandate_order_statistics_v1(
  p_dimension text, p_currency text, p_time_zone text, p_interval text, p_from date, p_to date, p_previous_from date, p_limit int)
returns table (part text, key text, starts_at timestamptz, ends_at timestamptz, orders bigint, paid_orders bigint, items bigint,
               revenue bigint, refunds bigint, refunded bigint)
stable language plpgsql as $$
declare
  starts timestamptz[];
  ends timestamptz[];
  previous_starts timestamptz[];
  previous_ends timestamptz[];
begin
  select array_agg(p.starts_at order by p.starts_at), array_agg(p.ends_at order by p.starts_at) into starts, ends
    from statistics_periods(p_from, p_to, p_interval, p_time_zone) p;
  select array_agg(p.starts_at order by p.starts_at), array_agg(p.ends_at order by p.starts_at) into previous_starts, previous_ends
    from statistics_periods(p_previous_from, p_from - 1, p_interval, p_time_zone) p;
  return query
  select case when p.n <= cardinality(starts) then 'period' else 'previous_period' end, null::text, p.starts_at, p.ends_at,
         coalesce(sum(s.orders), 0)::bigint, coalesce(sum(s.paid_orders), 0)::bigint, coalesce(sum(s.items), 0)::bigint,
         coalesce(sum(s.revenue), 0)::bigint, coalesce(sum(s.refunds), 0)::bigint, coalesce(sum(s.refunded), 0)::bigint
    from unnest(starts || previous_starts, ends || previous_ends) with ordinality as p (starts_at, ends_at, n)
    left join order_statistics_sums('status', p_currency, starts || previous_starts, ends || previous_ends, null) s on s.period = p.n
   group by p.n, p.starts_at, p.ends_at
   order by p.n;
  if p_dimension is null then return; end if;
  return query
  with totals as materialized (
    select * from order_statistics_sums(p_dimension, p_currency, starts[1:1], ends[cardinality(ends):], null) s
     where (s.orders, s.paid_orders, s.items, s.revenue, s.refunds, s.refunded) <> (0, 0, 0, 0, 0, 0)
  ),
  top as materialized (
    select t.key, row_number() over (order by t.revenue desc, t.items desc, t.orders desc, t.refunded desc, t.key) as rank
      from totals t order by 2 limit p_limit
  )
  select r.part, r.key, r.starts_at, r.ends_at, r.orders, r.paid_orders, r.items, r.revenue, r.refunds, r.refunded
    from (
      select 'group' as part, t.key, null::timestamptz as starts_at, null::timestamptz as ends_at, t.orders, t.paid_orders, t.items, t.revenue,
             t.refunds, t.refunded, top.rank
        from totals t join top on top.key = t.key
      union all
      -- The period after the last one is the whole previous period. Subscripts after the end of an array give null.
      select case when s.period <= cardinality(starts) then 'group_period' else 'previous_group' end, s.key, starts[s.period],
             ends[s.period], s.orders, s.paid_orders, s.items, s.revenue, s.refunds, s.refunded, top.rank
        from order_statistics_sums(p_dimension, p_currency, starts || previous_starts[1],
                                   ends || previous_ends[cardinality(previous_ends)], array(select top.key from top)) s
        join top on top.key = s.key
      union all
      select 'groups', null, null, null, count(*), 0, 0, 0, 0, 0, null from totals t
    ) r
   order by r.rank;
end
$$;

-- The rows of a product are far apart in the table, so its sums are read from the index alone.
create index order_statistics_product_sums on order_statistics (key, currency, width, starts_at) include (items, revenue)
 where dimension = 'product';

-- Last, because statistics wait from here until the migration's transaction ends.
drop index order_statistics_product
