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

-- The sums of each period and group, with the changes that have not been added to the sums yet. Adjacent periods share rows near their
-- common end, which are read once. `offset 0` makes PostgreSQL read each range by the index. The currency has the type of the column, because the index cannot be
-- searched for a text. Compiling the query would take longer than running it. Periods do not overlap, so that a binary search finds the
-- period of a change.
create or replace function order_statistics_sums(p_dimension text, p_currency text, p_starts timestamptz[], p_ends timestamptz[], p_keys text[])
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
     where c.currency = p_currency::char(3) and c.at < p.ends[i.index]
       and (c.product_id is null) = (p_dimension in ('all', 'status', 'application'))
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

select add_order_statistics_of_all_orders()
