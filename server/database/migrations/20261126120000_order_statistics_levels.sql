-- Until the new sums are complete, no change may be folded. The lock is released when the migration's transaction ends.
select pg_advisory_xact_lock(7310461200);

-- Each group's sums exist in five widths, from narrow to wide; every row of a width consists of whole rows of the width before. A product is
-- rarely sold more than once in an hour, so that hours would take as much space as quarters of an hour: products have six hours instead.
create function order_statistics_widths(p_dimension text) returns text[] immutable language sql as $$
  select array['15 minutes', case p_dimension when 'product' then '6 hours' else '1 hour' end, 'day', '5 days', 'month']
$$;

-- The start of the row that contains a time. The rows of five days start on the 1st, 6th, 11th, 16th, 21st and 26th of a month in UTC.
create function order_statistics_start(p_width text, p_at timestamptz) returns timestamptz immutable language sql as $$
  select case p_width
    when '15 minutes' then date_bin('15 minutes', p_at, '2000-01-01 00:00:00+00')
    when '1 hour' then date_bin('1 hour', p_at, '2000-01-01 00:00:00+00')
    when '6 hours' then date_bin('6 hours', p_at, '2000-01-01 00:00:00+00')
    when 'day' then date_bin('1 day', p_at, '2000-01-01 00:00:00+00')
    when '5 days' then (date_trunc('month', p_at at time zone 'UTC')
                        + least((extract(day from p_at at time zone 'UTC')::int - 1) / 5, 5) * interval '5 days') at time zone 'UTC'
    when 'month' then date_trunc('month', p_at at time zone 'UTC') at time zone 'UTC'
  end
$$;

create function order_statistics_starts(p_dimension text, p_at timestamptz) returns table (width text, starts_at timestamptz)
immutable rows 5 language sql as $$
  select w.width, order_statistics_start(w.width, p_at) from unnest(order_statistics_widths(p_dimension)) w (width)
$$;

-- Calculates the sums of a width (a level from 2 to 5) from the sums of the next narrower width, and returns the number of rows.
create function add_order_statistics_of_level(p_level int) returns bigint language plpgsql set work_mem to '64MB' as $$
declare added bigint;
begin
  insert into order_statistics (dimension, currency, width, starts_at, key, orders, paid_orders, items, revenue, refunds, refunded)
  select s.dimension, s.currency, w.width, order_statistics_start(w.width, s.starts_at), s.key, sum(s.orders), sum(s.paid_orders),
         sum(s.items), sum(s.revenue), sum(s.refunds), sum(s.refunded)
    from (values ('status'), ('application'), ('product'), ('category')) d (dimension)
   cross join lateral (select (order_statistics_widths(d.dimension))[p_level - 1] as narrower,
                              (order_statistics_widths(d.dimension))[p_level] as width) w
    join order_statistics s on s.dimension = d.dimension and s.width = w.narrower
   group by 1, 2, 3, 4, 5
   order by 1, 2, 3, 4, 5;
  get diagnostics added = row_count;
  return added;
end
$$;

create or replace function mandate_fold_order_statistics_v1(p_limit int) returns int language plpgsql as $$
declare folded int;
begin
  perform pg_advisory_xact_lock(7310461200);
  with taken as (
    delete from order_statistics_changes where id = any (array(select c.id from order_statistics_changes c order by c.id limit p_limit))
    returning at, currency, status, client_id, product_id, orders, paid_orders, items, revenue, refunds, refunded
  ),
  added as (
    insert into order_statistics as s
      (dimension, currency, width, starts_at, key, orders, paid_orders, items, revenue, refunds, refunded)
    select g.dimension, t.currency, w.width, w.starts_at, g.key, sum(t.orders), sum(t.paid_orders), sum(t.items), sum(t.revenue),
           sum(t.refunds), sum(t.refunded)
      from taken t
     cross join lateral order_statistics_groups(t.product_id, t.status, t.client_id) g
     cross join lateral order_statistics_starts(g.dimension, t.at) w
     group by g.dimension, t.currency, w.width, w.starts_at, g.key
    on conflict (dimension, currency, width, starts_at, key) do update
      set orders = s.orders + excluded.orders, paid_orders = s.paid_orders + excluded.paid_orders, items = s.items + excluded.items,
          revenue = s.revenue + excluded.revenue, refunds = s.refunds + excluded.refunds, refunded = s.refunded + excluded.refunded
  )
  select count(*) into folded from taken;
  return folded;
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
  for level in 2..5 loop
    written := written + add_order_statistics_of_level(level);
  end loop;
  return written;
end
$$;

-- Moves a product's sums to its new category. The lock keeps changes from being folded into the old category meanwhile. Where products have
-- no sums of the category's width, the narrowest ones are added up.
create or replace function move_order_statistics_to_category() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(7310461200);
  insert into order_statistics as s (dimension, currency, width, starts_at, key, orders, paid_orders, items, revenue, refunds, refunded)
  select 'category', t.currency, w.width, order_statistics_start(w.width, t.starts_at), v.category, 0, 0, sum(v.sign * t.items),
         sum(v.sign * t.revenue), 0, 0
    from unnest(order_statistics_widths('category')) w (width)
    join order_statistics t on t.dimension = 'product' and t.key = new.id::text
     and t.width = case when w.width = any (order_statistics_widths('product')) then w.width else '15 minutes' end
   cross join (values (old.category, -1), (new.category, 1)) v (category, sign)
   group by 2, 3, 4, 5
  on conflict (dimension, currency, width, starts_at, key) do update
    set items = s.items + excluded.items, revenue = s.revenue + excluded.revenue;
  return null;
end
$$;

-- Whether the rows between two times are at most as many as those between the times and their rounded values.
create function is_order_statistics_span_short(p_start timestamptz, p_end timestamptz, p_rounded_start timestamptz, p_rounded_end timestamptz)
returns boolean immutable language sql as $$
  select p_end - p_start <= greatest(p_start, p_rounded_start) - least(p_start, p_rounded_start)
                            + (greatest(p_end, p_rounded_end) - least(p_end, p_rounded_end))
$$;

-- Divides periods into whole rows. Both ends of a period are rounded to the nearest start of a wider row as long as this reduces the number
-- of rows. `sign` is -1 for rows that the wider rows contain although they are outside the period.
create function order_statistics_spans(p_dimension text, p_starts timestamptz[], p_ends timestamptz[])
returns table (n bigint, width text, starts_at timestamptz, ends_at timestamptz, sign int) stable rows 100 language sql as $$
  with bounds as materialized (
    select b.at, array[b.at, part.at, day.at, five_days.at,
                       date_trunc('month', (five_days.at at time zone 'UTC') + interval '15 days') at time zone 'UTC'] as rounded
      from (select unnest(p_starts) union select unnest(p_ends)) b (at)
     cross join (select (order_statistics_widths(p_dimension))[2]::interval) w (part)
     cross join lateral (select date_bin(w.part, b.at + w.part / 2, '2000-01-01 00:00:00+00') offset 0) part (at)
     cross join lateral (select date_bin('1 day', part.at + interval '12 hours', '2000-01-01 00:00:00+00') offset 0) day (at)
     cross join lateral (select order_statistics_start('5 days', day.at + interval '48 hours') offset 0) five_days (at)
  ),
  periods as materialized (
    select p.n, s.rounded as starts, e.rounded as ends,
           case when is_order_statistics_span_short(s.rounded[1], e.rounded[1], s.rounded[2], e.rounded[2]) then 1
                when is_order_statistics_span_short(s.rounded[2], e.rounded[2], s.rounded[3], e.rounded[3]) then 2
                when is_order_statistics_span_short(s.rounded[3], e.rounded[3], s.rounded[4], e.rounded[4]) then 3
                when is_order_statistics_span_short(s.rounded[4], e.rounded[4], s.rounded[5], e.rounded[5]) then 4
                else 5 end as last_level
      from unnest(p_starts, p_ends) with ordinality as p (starts_at, ends_at, n)
      join bounds s on s.at = p.starts_at
      join bounds e on e.at = p.ends_at
  )
  select p.n, (order_statistics_widths(p_dimension))[s.level], least(s.a, s.b), greatest(s.a, s.b), case when s.a < s.b then 1 else -1 end
    from periods p
   cross join lateral (
     select l.level, v.a, v.b from generate_series(1, p.last_level - 1) l (level)
      cross join lateral (values (p.starts[l.level], p.starts[l.level + 1]), (p.ends[l.level + 1], p.ends[l.level])) v (a, b)
     union all
     select p.last_level, p.starts[p.last_level], p.ends[p.last_level]
   ) s (level, a, b)
   where s.a <> s.b
$$;

-- The sums of each period and group, with the changes that are not folded yet. `offset 0` makes PostgreSQL read each span by the index.
-- The currency has the type of the column, because the index cannot be searched for a text. Compiling the query would take longer than
-- running it.
create or replace function order_statistics_sums(p_dimension text, p_currency text, p_starts timestamptz[], p_ends timestamptz[], p_keys text[])
returns table (period bigint, key text, orders numeric, paid_orders numeric, items numeric, revenue numeric, refunds numeric, refunded numeric)
stable language plpgsql set jit to off as $$
begin
  return query
  with periods as materialized (select * from unnest(p_starts, p_ends) with ordinality as p (starts_at, ends_at, n)),
  spans as materialized (
    select s.n, s.width, s.starts_at, s.ends_at, s.sign from order_statistics_spans(p_dimension, p_starts, p_ends) s
  ),
  found as (
    select span.n, s.key, span.sign * s.orders as orders, span.sign * s.paid_orders as paid_orders, span.sign * s.items as items,
           span.sign * s.revenue as revenue, span.sign * s.refunds as refunds, span.sign * s.refunded as refunded
      from spans span
     cross join lateral (
       select t.key, t.orders, t.paid_orders, t.items, t.revenue, t.refunds, t.refunded from order_statistics t
        where p_keys is null and t.dimension = p_dimension and t.currency = p_currency::char(3) and t.width = span.width
          and t.starts_at >= span.starts_at and t.starts_at < span.ends_at
       offset 0) s
    union all
    select span.n, s.key, span.sign * s.orders, span.sign * s.paid_orders, span.sign * s.items, span.sign * s.revenue,
           span.sign * s.refunds, span.sign * s.refunded
      from spans span cross join unnest(p_keys) as wanted (key)
     cross join lateral (
       select t.key, t.orders, t.paid_orders, t.items, t.revenue, t.refunds, t.refunded from order_statistics t
        where p_dimension = 'product' and t.dimension = 'product' and t.key = wanted.key and t.currency = p_currency::char(3)
          and t.width = span.width and t.starts_at >= span.starts_at and t.starts_at < span.ends_at
       offset 0) s
    union all
    select span.n, s.key, span.sign * s.orders, span.sign * s.paid_orders, span.sign * s.items, span.sign * s.revenue,
           span.sign * s.refunds, span.sign * s.refunded
      from spans span
     cross join lateral (
       select t.key, t.orders, t.paid_orders, t.items, t.revenue, t.refunds, t.refunded from order_statistics t
        where p_dimension <> 'product' and t.dimension = p_dimension and t.currency = p_currency::char(3) and t.width = span.width
          and t.starts_at >= span.starts_at and t.starts_at < span.ends_at and t.key = any (p_keys)
       offset 0) s
    union all
    select p.n, g.key, c.orders, c.paid_orders, c.items, c.revenue, c.refunds, c.refunded
      from order_statistics_changes c
      join periods p on c.at >= p.starts_at and c.at < p.ends_at
     cross join lateral order_statistics_groups(c.product_id, c.status, c.client_id) g
     where c.currency = p_currency::char(3) and g.dimension = p_dimension and (p_keys is null or g.key = any (p_keys))
  )
  select f.n, f.key, sum(f.orders), sum(f.paid_orders), sum(f.items), sum(f.revenue), sum(f.refunds), sum(f.refunded)
    from found f group by f.n, f.key;
end
$$;

drop function order_statistics_widths(timestamptz);

drop function order_statistics_spans(timestamptz, timestamptz);

-- The widths that existed before have the same rows as before.
select add_order_statistics_of_level(2), add_order_statistics_of_level(4)
