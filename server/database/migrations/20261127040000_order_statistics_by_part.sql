-- The periods from the first to the last local day, both included, as an array of `[start, end]` in seconds since 1970-01-01 UTC. A day that
-- a time zone skipped has no length, and comes before the day that starts at the same time.
create function statistics_periods_json(p_interval text, p_time_zone text, p_from date, p_to date) returns json stable language sql as $$
  select coalesce(json_agg(json_build_array(extract(epoch from p.starts_at)::bigint, extract(epoch from p.ends_at)::bigint)
                           order by p.starts_at, p.ends_at), '[]')
    from statistics_periods(p_from, p_to, p_interval, p_time_zone) p
$$;

-- The periods, and the periods before them from the day `p_previous_from`.
create function mandate_statistics_periods_v1(p_interval text, p_time_zone text, p_from date, p_to date, p_previous_from date)
returns table (periods json, previous_periods json) stable language sql as $$
  select statistics_periods_json(p_interval, p_time_zone, p_from, p_to),
         statistics_periods_json(p_interval, p_time_zone, p_previous_from, p_from - 1)
$$;

-- Converts seconds since 1970-01-01 UTC.
create function times_from_seconds(p_seconds bigint[]) returns timestamptz[] immutable language sql as $$
  select array(select to_timestamp(s) from unnest(p_seconds) s)
$$;

-- Rows of one width to read, from the first to before the last of the `bounds` (in seconds since 1970-01-01 UTC), and, with a time of day,
-- only those that start at this time in UTC. `parts[width_bucket(row.starts_at, bounds)]` is the number of the part of the result to which a
-- row belongs, negative if the row is to be subtracted from the part. Rows of part 0 are ignored.
create type order_statistics_scan as (width text, time_of_day time, bounds bigint[], parts int[]);

-- The sums of each part, as one row for each group, with the changes in each period that have not been added to the sums yet. `parts`
-- contains the numbers of the parts, and the other arrays contain their sums. The part of a period has the number of the period; a negative
-- number means that the sum is to be subtracted from the part. `offset 0` makes PostgreSQL read each scan by the index. The currency has the
-- type of the column, because the index cannot be searched for a text. Compiling the query would take longer than running it. Without sorts,
-- PostgreSQL adds up the rows in a hash table, although it expects fewer of them than it finds. The bounds of each scan are converted by a
-- subquery, because a call of `times_from_seconds` for each scan would take longer.
create function order_statistics_parts(
  p_dimension text, p_currency text, p_scans json, p_starts timestamptz[], p_ends timestamptz[], p_keys text[])
returns table (key text, parts json, orders json, paid_orders json, items json, revenue json, refunds json, refunded json)
stable language plpgsql set jit to off set enable_sort to off set plan_cache_mode to force_custom_plan set work_mem to '16MB' as $$
declare has_counts boolean := p_dimension <> 'category';
begin
  return query
  with scans as materialized (
    select s.width, array(select to_timestamp(b.seconds) from unnest(s.bounds) as b (seconds)) as bounds, s.parts
      from json_populate_recordset(null::order_statistics_scan, p_scans) s
  ),
  found as (
    select c.parts[width_bucket(s.starts_at, c.bounds)] as part, s.key, s.orders, s.paid_orders, s.items, s.revenue, s.refunds, s.refunded
      from scans c
     cross join lateral (
       select t.starts_at, t.key, t.orders, t.paid_orders, t.items, t.revenue, t.refunds, t.refunded from order_statistics t
        where t.dimension = p_dimension and t.currency = p_currency::char(3) and t.width = c.width
          and t.starts_at >= c.bounds[1] and t.starts_at < c.bounds[cardinality(c.bounds)]
       offset 0) s
     where p_keys is null or s.key = any (p_keys)
    offset 0
  ),
  sums as (
    select s.part, s.key, bigint_sum(s.orders) as orders, bigint_sum(s.paid_orders) as paid_orders, bigint_sum(s.items) as items,
           bigint_sum(s.revenue) as revenue, bigint_sum(s.refunds) as refunds, bigint_sum(s.refunded) as refunded
      from (
        select * from found f where f.part <> 0
        union all
        select c.n::int, c.key, c.orders, c.paid_orders, c.items, c.revenue, c.refunds, c.refunded
          from order_statistics_recent_changes(p_dimension, p_currency, p_starts, p_ends, p_keys) c
      ) s
     group by s.part, s.key
  )
  select s.key, json_agg(s.part), json_agg(s.orders) filter (where has_counts), json_agg(s.paid_orders) filter (where has_counts),
         json_agg(s.items), json_agg(s.revenue), json_agg(s.refunds) filter (where has_counts), json_agg(s.refunded) filter (where has_counts)
    from sums s group by s.key;
end
$$;

-- The same for some products, which have only items and revenue. Each scan has a time of day. The rows of a product are far apart in the
-- table, so its sums are read from the index alone.
create function order_statistics_product_parts(
  p_currency text, p_scans json, p_starts timestamptz[], p_ends timestamptz[], p_keys text[])
returns table (key text, parts json, items json, revenue json)
stable language plpgsql set jit to off set enable_sort to off set plan_cache_mode to force_custom_plan set work_mem to '16MB' as $$
begin
  return query
  with scans as materialized (
    select s.width, s.time_of_day, array(select to_timestamp(b.seconds) from unnest(s.bounds) as b (seconds)) as bounds, s.parts
      from json_populate_recordset(null::order_statistics_scan, p_scans) s
  ),
  found as (
    select c.parts[width_bucket(s.starts_at, c.bounds)] as part, wanted.n as product, s.items, s.revenue
      from scans c cross join unnest(p_keys) with ordinality as wanted (key, n)
     cross join lateral (
       select t.starts_at, t.items, t.revenue from order_statistics t
        where t.dimension = 'product' and t.key = wanted.key and t.currency = p_currency::char(3) and t.width = c.width
          and (t.starts_at at time zone 'UTC')::time = c.time_of_day
          and t.starts_at >= c.bounds[1] and t.starts_at < c.bounds[cardinality(c.bounds)]
       offset 0) s
    offset 0
  ),
  sums as (
    select s.part, s.product, bigint_sum(s.items) as items, bigint_sum(s.revenue) as revenue
      from (
        select * from found f where f.part <> 0
        union all
        select c.n::int, array_position(p_keys, c.key), c.items, c.revenue
          from order_statistics_recent_changes('product', p_currency, p_starts, p_ends, p_keys) c
      ) s
     group by s.part, s.product
  )
  select p_keys[s.product], json_agg(s.part), json_agg(s.items), json_agg(s.revenue) from sums s group by s.product;
end
$$;

-- The sums of each group in one period. Each scan has one part, 1 or -1.
create function order_statistics_totals(p_dimension text, p_currency text, p_scans json, p_starts_at timestamptz, p_ends_at timestamptz)
returns table (key text, orders bigint, paid_orders bigint, items bigint, revenue bigint, refunds bigint, refunded bigint)
stable language plpgsql set jit to off set enable_sort to off set plan_cache_mode to force_custom_plan set work_mem to '16MB' as $$
begin
  return query
  with scans as materialized (
    select s.width, to_timestamp(s.bounds[1]) as starts_at, to_timestamp(s.bounds[2]) as ends_at, s.parts[1] as sign
      from json_populate_recordset(null::order_statistics_scan, p_scans) s
  ),
  -- Signs are applied to sums and not to rows, of which there are many more.
  found as (
    select c.sign, s.key, bigint_sum(s.orders) as orders, bigint_sum(s.paid_orders) as paid_orders, bigint_sum(s.items) as items,
           bigint_sum(s.revenue) as revenue, bigint_sum(s.refunds) as refunds, bigint_sum(s.refunded) as refunded
      from scans c
     cross join lateral (
       select t.key, t.orders, t.paid_orders, t.items, t.revenue, t.refunds, t.refunded from order_statistics t
        where t.dimension = p_dimension and t.currency = p_currency::char(3) and t.width = c.width
          and t.starts_at >= c.starts_at and t.starts_at < c.ends_at
       offset 0) s
     group by c.sign, s.key
    union all
    select 1, c.key, c.orders, c.paid_orders, c.items, c.revenue, c.refunds, c.refunded
      from order_statistics_recent_changes(p_dimension, p_currency, array[p_starts_at], array[p_ends_at], null) c
  )
  select f.key, bigint_sum(f.sign * f.orders), bigint_sum(f.sign * f.paid_orders), bigint_sum(f.sign * f.items),
         bigint_sum(f.sign * f.revenue), bigint_sum(f.sign * f.refunds), bigint_sum(f.sign * f.refunded)
    from found f group by f.key;
end
$$;

-- The parts of all orders, in a row without a key, and, with a dimension, those of the groups with the most revenue in the first `p_count`
-- periods, with the number of groups. The starts and ends of the current and then the previous periods are in seconds since 1970-01-01 UTC.
-- `p_scans` reads all periods, `p_total_scans` the sum of the current periods, and `p_group_scans` the current periods and then the previous
-- ones as one period.
create function mandate_order_statistics_v3(
  p_dimension text, p_currency text, p_limit int, p_starts bigint[], p_ends bigint[], p_count int, p_scans json, p_total_scans json,
  p_group_scans json)
returns table (key text, group_count bigint, parts json, orders json, paid_orders json, items json, revenue json, refunds json, refunded json)
stable language plpgsql as $$
declare
  starts timestamptz[] := times_from_seconds(p_starts);
  ends timestamptz[] := times_from_seconds(p_ends);
  group_starts timestamptz[] := starts[1:p_count + 1];
  group_ends timestamptz[] := ends[1:p_count] || ends[cardinality(ends)];
begin
  return query
  select null::text, null::bigint, s.parts, s.orders, s.paid_orders, s.items, s.revenue, s.refunds, s.refunded
    from (values (1)) as one (row) left join order_statistics_parts('all', p_currency, p_scans, starts, ends, null) s on true;
  if p_dimension is null then return; end if;
  return query
  with totals as materialized (
    select * from order_statistics_totals(p_dimension, p_currency, p_total_scans, starts[1], ends[p_count]) s
     where (s.orders, s.paid_orders, s.items, s.revenue, s.refunds, s.refunded) <> (0, 0, 0, 0, 0, 0)
  ),
  top as materialized (
    select t.key, row_number() over (order by t.revenue desc, t.items desc, t.orders desc, t.refunded desc, t.key) as rank
      from totals t order by 2 limit p_limit
  ),
  keys as materialized (select coalesce(array_agg(top.key), '{}') as keys from top),
  found as (
    select s.key, s.parts, null::json as orders, null::json as paid_orders, s.items, s.revenue, null::json as refunds, null::json as refunded
      from keys k cross join lateral order_statistics_product_parts(p_currency, p_group_scans, group_starts, group_ends, k.keys) s
     where p_dimension = 'product'
    union all
    select s.key, s.parts, s.orders, s.paid_orders, s.items, s.revenue, s.refunds, s.refunded
      from keys k cross join lateral order_statistics_parts(p_dimension, p_currency, p_group_scans, group_starts, group_ends, k.keys) s
     where p_dimension <> 'product'
  )
  select top.key, (select count(*) from totals), f.parts, f.orders, f.paid_orders, f.items, f.revenue, f.refunds, f.refunded
    from top join found f on f.key = top.key order by top.rank;
end
$$;

-- The best sellers, the products that are running low and the products not sold from one time to before another. `p_scans` reads this period.
create function mandate_product_statistics_v2(
  p_currency text, p_starts_at bigint, p_ends_at bigint, p_scans json, p_low_stock int, p_limit int)
returns table (list text, product_id bigint, sku text, name text, category text, available int, items bigint, revenue bigint)
stable language plpgsql as $$
begin
  return query
  with sold as materialized (
    select s.key::bigint as id, s.items, s.revenue
      from order_statistics_totals('product', p_currency, p_scans, to_timestamp(p_starts_at), to_timestamp(p_ends_at)) s
     where s.items > 0
  ),
  best as (select s.id from sold s order by s.items desc, s.revenue desc, s.id limit p_limit),
  low as (
    select k.product_id as id from product_stock k join products p on p.id = k.product_id
     where k.available <= p_low_stock and p.status = 'active' and p.currency = p_currency order by k.available, k.product_id limit p_limit
  ),
  unsold as (
    select p.id from products p
     where p.status = 'active' and p.currency = p_currency and p.created_at < to_timestamp(p_ends_at)
       and not exists (select from sold s where s.id = p.id)
     order by p.created_at, p.id limit p_limit
  ),
  listed as (
    select 'best_sellers' as list, b.id from best b
    union all select 'running_low', l.id from low l
    union all select 'not_sold', u.id from unsold u
  )
  select l.list, p.id, p.sku, p.name, p.category, k.available, coalesce(s.items, 0)::bigint, coalesce(s.revenue, 0)::bigint
    from listed l
    join products p on p.id = l.id
    left join product_stock k on k.product_id = p.id
    left join sold s on s.id = p.id
   order by l.list, case l.list when 'best_sellers' then -s.items when 'running_low' then k.available end, -s.revenue, p.created_at, p.id;
end
$$
