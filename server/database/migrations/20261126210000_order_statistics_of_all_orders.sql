-- Until the new sums are complete, no change may be added to the sums. The lock is released when the migration's transaction ends.
select pg_advisory_xact_lock(7310461200);

-- The groups to which a change belongs. All orders form one group, so that the sums of a period need one row and not a row for each status.
-- The category is the product's current one.
create or replace function order_statistics_groups(p_product_id bigint, p_status text, p_client_id text)
returns table (dimension text, key text) stable rows 3 language sql as $$
  select 'all', '' where p_product_id is null
  union all
  select 'status', p_status where p_product_id is null
  union all
  select 'application', coalesce(p_client_id, '') where p_product_id is null
  union all
  select 'product', p_product_id::text where p_product_id is not null
  union all
  select 'category', p.category from products p where p.id = p_product_id
$$;

-- Adds the sums of all orders, in every width, from the sums of each status, and returns the number of rows.
create function add_order_statistics_of_all_orders() returns bigint language plpgsql set work_mem to '64MB' as $$
declare added bigint;
begin
  insert into order_statistics (dimension, currency, width, starts_at, key, orders, paid_orders, items, revenue, refunds, refunded)
  select 'all', s.currency, s.width, s.starts_at, '', sum(s.orders), sum(s.paid_orders), sum(s.items), sum(s.revenue), sum(s.refunds),
         sum(s.refunded)
    from order_statistics s where s.dimension = 'status' group by 2, 3, 4 order by 2, 3, 4;
  get diagnostics added = row_count;
  return added;
end
$$;

alter function mandate_rebuild_order_statistics_v1() rename to rebuild_order_statistics_of_groups;

-- Calculates all sums again and returns the number of rows.
create function mandate_rebuild_order_statistics_v1() returns bigint language plpgsql as $$
declare written bigint := rebuild_order_statistics_of_groups();
begin
  return written + add_order_statistics_of_all_orders();
end
$$;

-- Rows of one width, from `starts_at` to before `ends_at`, which belong to period number `n`. `sign` is -1 for rows that the wider rows of
-- the period contain although they are outside the period. Adjacent periods share the rows near their common end: these have the same
-- `range`.
create type order_statistics_span as (n bigint, range bigint, width text, starts_at timestamptz, ends_at timestamptz, sign int);

drop function order_statistics_spans(text, timestamptz[], timestamptz[]);

-- Divides periods into whole rows. Both ends of a period are rounded to the nearest start of a wider row as long as this reduces the number
-- of rows. Products have no rows of an hour, so that their ends are not rounded to hours.
create function order_statistics_spans(p_dimension text, p_starts timestamptz[], p_ends timestamptz[])
returns setof order_statistics_span stable rows 100 language sql as $$
  with bounds as materialized (
    select b.at, array[b.at, hour.at, six_hours.at, day.at, five_days.at,
                       date_trunc('month', (five_days.at at time zone 'UTC') + interval '15 days') at time zone 'UTC'] as rounded
      from (select unnest(p_starts) union select unnest(p_ends)) b (at)
     cross join lateral (
       select case p_dimension when 'product' then b.at
                   else date_bin('1 hour', b.at + interval '30 minutes', '2000-01-01 00:00:00+00') end
       offset 0) hour (at)
     cross join lateral (select date_bin('6 hours', hour.at + interval '3 hours', '2000-01-01 00:00:00+00') offset 0) six_hours (at)
     cross join lateral (select date_bin('1 day', six_hours.at + interval '12 hours', '2000-01-01 00:00:00+00') offset 0) day (at)
     cross join lateral (select order_statistics_start('5 days', day.at + interval '48 hours') offset 0) five_days (at)
  ),
  widths as (
    select w.width, w.level::int from unnest(array['15 minutes', case p_dimension when 'product' then '15 minutes' else '1 hour' end,
                                                   '6 hours', 'day', '5 days', 'month']) with ordinality w (width, level)
  ),
  periods as materialized (
    select p.n, p.starts_at, p.ends_at, s.rounded as starts, e.rounded as ends,
           case when is_order_statistics_span_short(s.rounded[1], e.rounded[1], s.rounded[2], e.rounded[2]) then 1
                when is_order_statistics_span_short(s.rounded[2], e.rounded[2], s.rounded[3], e.rounded[3]) then 2
                when is_order_statistics_span_short(s.rounded[3], e.rounded[3], s.rounded[4], e.rounded[4]) then 3
                when is_order_statistics_span_short(s.rounded[4], e.rounded[4], s.rounded[5], e.rounded[5]) then 4
                when is_order_statistics_span_short(s.rounded[5], e.rounded[5], s.rounded[6], e.rounded[6]) then 5
                else 6 end as last_level
      from unnest(p_starts, p_ends) with ordinality as p (starts_at, ends_at, n)
      join bounds s on s.at = p.starts_at
      join bounds e on e.at = p.ends_at
  ),
  -- The rows between an end and its rounded value.
  steps as materialized (
    select row_number() over () as range, b.at, w.level, w.width, least(v.a, v.b) as starts_at, greatest(v.a, v.b) as ends_at,
           case when v.a < v.b then 1 else -1 end as sign
      from bounds b
      join widths w on w.level < (select max(p.last_level) from periods p)
     cross join lateral (select b.rounded[w.level] as a, b.rounded[w.level + 1] as b) v
     where v.a <> v.b
  )
  select p.n, s.range, s.width, s.starts_at, s.ends_at, s.sign
    from periods p join steps s on s.at = p.starts_at and s.level < p.last_level
  union all
  select p.n, s.range, s.width, s.starts_at, s.ends_at, -s.sign
    from periods p join steps s on s.at = p.ends_at and s.level < p.last_level
  union all
  select p.n, (select count(*) from steps) + p.n, w.width, least(v.a, v.b), greatest(v.a, v.b), case when v.a < v.b then 1 else -1 end
    from periods p
    join widths w on w.level = p.last_level
   cross join lateral (select p.starts[p.last_level] as a, p.ends[p.last_level] as b) v
   where v.a <> v.b
$$;

-- Index ranges that contain the rows of all spans. `width_bucket(row.starts_at, bounds)` is the position of the row's range in `ranges`;
-- the range 0 consists of rows between the spans. By time of day, the rows that start at the same time on different days are in one index
-- range, so that the rows near the ends of all days need few searches.
create function order_statistics_scans(p_spans order_statistics_span[], p_by_time_of_day boolean)
returns table (width text, time_of_day time, starts_at timestamptz, ends_at timestamptz, bounds timestamptz[], ranges bigint[])
stable rows 100 language sql as $$
  with ranges as (
    select r.range, r.width, r.starts_at, r.ends_at, t.time_of_day
      from (select distinct on (s.range) s.range, s.width, s.starts_at, s.ends_at from unnest(p_spans) s) r
     cross join lateral (
       select time '00:00' as time_of_day where not p_by_time_of_day or r.width not in ('15 minutes', '6 hours')
       union all
       select (row.starts_at at time zone 'UTC')::time
         from generate_series(r.starts_at, least(r.ends_at, r.starts_at + interval '1 day') - interval '1 minute', r.width::interval)
              as row (starts_at)
        where p_by_time_of_day and r.width in ('15 minutes', '6 hours')) t
  ),
  steps as (
    select r.*,
           case when r.starts_at between lag(r.ends_at) over before and lag(r.ends_at) over before + gap.allowed then 0 else 1 end as step
      from ranges r
     cross join (select case when p_by_time_of_day then interval '10 days' else interval '0' end) gap (allowed)
    window before as (partition by r.width, r.time_of_day order by r.starts_at, r.ends_at, r.range)
  ),
  numbered as (
    select r.*, sum(r.step) over (partition by r.width, r.time_of_day order by r.starts_at, r.ends_at, r.range) as scan from steps r
  )
  select r.width, r.time_of_day, min(r.starts_at), max(r.ends_at), array_agg(b.at order by b.at, b.range),
         array_agg(b.range order by b.at, b.range)
    from numbered r cross join lateral (values (r.starts_at, r.range), (r.ends_at, 0)) b (at, range)
   group by r.width, r.time_of_day, r.scan
$$;

-- The changes in each period and group that have not been added to the sums yet. Periods do not overlap, so that a binary search finds the
-- period of a change.
create function order_statistics_recent_changes(
  p_dimension text, p_currency text, p_starts timestamptz[], p_ends timestamptz[], p_keys text[])
returns table (n bigint, key text, orders bigint, paid_orders bigint, items bigint, revenue bigint, refunds bigint, refunded bigint)
stable language sql as $$
  with sorted as materialized (
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
     where c.currency = p_currency::char(3) and c.at < p.ends[i.index]
       and (c.product_id is null) = (p_dimension in ('all', 'status', 'application'))
     group by 1, 2, 3, 4
  )
  select c.n, g.key, c.orders, c.paid_orders, c.items, c.revenue, c.refunds, c.refunded
    from changed c cross join lateral order_statistics_groups(c.product_id, c.status, c.client_id) g
   where g.dimension = p_dimension and (p_keys is null or g.key = any (p_keys))
$$;

-- The sums of each period for some products. The rows of a product are far apart in the table, so its sums are read from the index alone.
create function order_statistics_product_sums(p_currency text, p_starts timestamptz[], p_ends timestamptz[], p_keys text[])
returns table (period bigint, key text, items bigint, revenue bigint)
stable language plpgsql set jit to off set enable_mergejoin to off set plan_cache_mode to force_custom_plan set work_mem to '16MB' as $$
declare spans order_statistics_span[] := array(select s from order_statistics_spans('product', p_starts, p_ends) s);
begin
  return query
  with scans as materialized (select * from order_statistics_scans(spans, true)),
  found as (
    select c.ranges[width_bucket(s.starts_at, c.bounds)] as range, wanted.n as product, s.items, s.revenue
      from scans c cross join unnest(p_keys) with ordinality as wanted (key, n)
     cross join lateral (
       select t.starts_at, t.items, t.revenue from order_statistics t
        where t.dimension = 'product' and t.key = wanted.key and t.currency = p_currency::char(3) and t.width = c.width
          and (t.starts_at at time zone 'UTC')::time = c.time_of_day and t.starts_at >= c.starts_at and t.starts_at < c.ends_at
       offset 0) s
    offset 0
  ),
  signed as (
    select s.n, f.product, s.sign * f.items as items, s.sign * f.revenue as revenue
      from found f join unnest(spans) s on s.range = f.range
    union all
    select c.n, array_position(p_keys, c.key), c.items, c.revenue
      from order_statistics_recent_changes('product', p_currency, p_starts, p_ends, p_keys) c
  )
  select f.n, p_keys[f.product], bigint_sum(f.items), bigint_sum(f.revenue) from signed f group by f.n, f.product;
end
$$;

-- The sums of each period and group, with the changes that have not been added to the sums yet. Adjacent periods share rows near their
-- common end, which are read once. `offset 0` makes PostgreSQL read each range by the index. The currency has the type of the column,
-- because the index cannot be searched for a text. Compiling the query would take longer than running it.
create or replace function order_statistics_sums(p_dimension text, p_currency text, p_starts timestamptz[], p_ends timestamptz[], p_keys text[])
returns table (period bigint, key text, orders bigint, paid_orders bigint, items bigint, revenue bigint, refunds bigint, refunded bigint)
stable language plpgsql set jit to off set enable_mergejoin to off set plan_cache_mode to force_custom_plan set work_mem to '16MB' as $$
declare spans order_statistics_span[];
begin
  if p_dimension = 'product' and p_keys is not null then
    return query
    select s.period, s.key, 0::bigint, 0::bigint, s.items, s.revenue, 0::bigint, 0::bigint
      from order_statistics_product_sums(p_currency, p_starts, p_ends, p_keys) s;
    return;
  end if;
  spans := array(select s from order_statistics_spans(p_dimension, p_starts, p_ends) s);
  return query
  with scans as materialized (select * from order_statistics_scans(spans, false)),
  found as (
    select c.ranges[width_bucket(s.starts_at, c.bounds)] as range, s.key, s.orders, s.paid_orders, s.items, s.revenue, s.refunds, s.refunded
      from scans c
     cross join lateral (
       select t.starts_at, t.key, t.orders, t.paid_orders, t.items, t.revenue, t.refunds, t.refunded from order_statistics t
        where t.dimension = p_dimension and t.currency = p_currency::char(3) and t.width = c.width and t.starts_at >= c.starts_at
          and t.starts_at < c.ends_at
       offset 0) s
     where p_keys is null or s.key = any (p_keys)
    offset 0
  ),
  signed as (
    select s.n, f.key, s.sign * f.orders as orders, s.sign * f.paid_orders as paid_orders, s.sign * f.items as items,
           s.sign * f.revenue as revenue, s.sign * f.refunds as refunds, s.sign * f.refunded as refunded
      from found f join unnest(spans) s on s.range = f.range
    union all
    select c.n, c.key, c.orders, c.paid_orders, c.items, c.revenue, c.refunds, c.refunded
      from order_statistics_recent_changes(p_dimension, p_currency, p_starts, p_ends, p_keys) c
  )
  select f.n, f.key, bigint_sum(f.orders), bigint_sum(f.paid_orders), bigint_sum(f.items), bigint_sum(f.revenue), bigint_sum(f.refunds),
         bigint_sum(f.refunded)
    from signed f group by f.n, f.key;
end
$$;

-- One row per period (`part` is `period` or `previous_period`); with a dimension, also one row for each of the groups with the most revenue
-- (`group`, in this order, and `previous_group`), one row for each of their periods (`group_period`), and the number of groups (`groups`).
-- `period` is the number of the period, from 1. Only rows for periods contain times, because converting the times of all groups to text
-- would take long. The previous period is read only for the groups with the most revenue.
create function mandate_order_statistics_v2(
  p_dimension text, p_currency text, p_time_zone text, p_interval text, p_from date, p_to date, p_previous_from date, p_limit int)
returns table (part text, key text, period int, starts_at timestamptz, ends_at timestamptz, orders bigint, paid_orders bigint, items bigint,
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
  select case when p.n <= cardinality(starts) then 'period' else 'previous_period' end, null::text, p.n::int, p.starts_at, p.ends_at,
         coalesce(sum(s.orders), 0)::bigint, coalesce(sum(s.paid_orders), 0)::bigint, coalesce(sum(s.items), 0)::bigint,
         coalesce(sum(s.revenue), 0)::bigint, coalesce(sum(s.refunds), 0)::bigint, coalesce(sum(s.refunded), 0)::bigint
    from unnest(starts || previous_starts, ends || previous_ends) with ordinality as p (starts_at, ends_at, n)
    left join order_statistics_sums('all', p_currency, starts || previous_starts, ends || previous_ends, null) s on s.period = p.n
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
  select r.part, r.key, r.period, null::timestamptz, null::timestamptz, r.orders, r.paid_orders, r.items, r.revenue, r.refunds, r.refunded
    from (
      select 'group' as part, t.key, null::int as period, t.orders, t.paid_orders, t.items, t.revenue, t.refunds, t.refunded, top.rank
        from totals t join top on top.key = t.key
      union all
      -- The period after the last one is the whole previous period.
      select case when s.period <= cardinality(starts) then 'group_period' else 'previous_group' end, s.key, s.period::int, s.orders,
             s.paid_orders, s.items, s.revenue, s.refunds, s.refunded, top.rank
        from order_statistics_sums(p_dimension, p_currency, starts || previous_starts[1],
                                   ends || previous_ends[cardinality(previous_ends)], array(select top.key from top)) s
        join top on top.key = s.key
      union all
      select 'groups', null, null, count(*), 0, 0, 0, 0, 0, null from totals t
    ) r
   order by r.rank;
end
$$;

-- Processes of earlier versions call this function until they are replaced.
create or replace function mandate_order_statistics_v1(
  p_dimension text, p_currency text, p_time_zone text, p_interval text, p_from date, p_to date, p_previous_from date, p_limit int)
returns table (part text, key text, starts_at timestamptz, ends_at timestamptz, orders bigint, paid_orders bigint, items bigint,
               revenue bigint, refunds bigint, refunded bigint)
stable language sql as $$
  with rows as materialized (
    select * from mandate_order_statistics_v2(p_dimension, p_currency, p_time_zone, p_interval, p_from, p_to, p_previous_from, p_limit)
      with ordinality
  )
  select r.part, r.key, coalesce(r.starts_at, p.starts_at), coalesce(r.ends_at, p.ends_at), r.orders, r.paid_orders, r.items, r.revenue,
         r.refunds, r.refunded
    from rows r left join rows p on r.part = 'group_period' and p.part = 'period' and p.period = r.period
   order by r.ordinality
$$;

select add_order_statistics_of_all_orders();

create index order_statistics_product_sums_by_time_of_day
    on order_statistics (key, currency, width, ((starts_at at time zone 'UTC')::time), starts_at) include (items, revenue)
 where dimension = 'product';

-- Last, because statistics wait from here until the migration's transaction ends.
drop index order_statistics_product_sums
