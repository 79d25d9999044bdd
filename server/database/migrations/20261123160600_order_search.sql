-- The orders with this number, reference, product SKU or customer, newest first. Each part uses an index.
create function mandate_find_orders_v1(p_text text, p_user_id bigint, p_limit int) returns table (id bigint) stable language plpgsql as $$
begin
  return query
  with customers as materialized (
    select u.id from users u
     where u.status <> 'closed' and lower(u.email) = lower(p_text) and (p_user_id is null or u.id = p_user_id)
    union
    select u.id from users u
     where u.status <> 'closed' and length(p_text) >= 3 and (p_user_id is null or u.id = p_user_id)
       and lower(u.name) like '%' || regexp_replace(lower(p_text), '([\\%_])', '\\\1', 'g') || '%'
  )
  select found.id
    from (
      select o.id, o.user_id from orders o where o.id = case when p_text ~ '^[1-9][0-9]{0,17}$' then p_text::bigint end
      union
      select o.id, o.user_id from orders o where o.reference = p_text
      union
      (select o.id, o.user_id from customers c join orders o on o.user_id = c.id order by o.id desc limit p_limit)
      union
      (select o.id, o.user_id from products p join order_items i on i.product_id = p.id join orders o on o.id = i.order_id
        where p.sku = p_text and (p_user_id is null or o.user_id = p_user_id) order by i.order_id desc limit p_limit)
    ) found
   where p_user_id is null or found.user_id = p_user_id
   order by found.id desc
   limit p_limit;
end
$$
