-- The words of all products, for misspelled searches. There is no unique key, because two transactions that add the same words in a
-- different order would deadlock. A word that two transactions add at the same time is stored twice.
create table product_words (
  word text not null
);

create index product_words_word on product_words (word);

-- Waits for transactions that write products, so that their changes are included when `product_words` is filled.
lock table products in share row exclusive mode;

drop function products_with_similar_words(text);

drop function products_with_words(text);

drop function product_search_row(text, text, text);

alter table product_search drop column title;

create function product_search_words(name text, sku text, description text) returns tsvector immutable language sql as $$
  select setweight(to_tsvector('simple', searchable_text(name || ' ' || sku)), 'A') ||
         setweight(to_tsvector('simple', searchable_text(description)), 'C')
$$;

-- Shorter words are never corrected. Longer words are not corrected either, because cursors contain the replacements and would become too
-- long.
create function words_to_correct_to(words tsvector) returns setof text immutable language sql as $$
  select word from unnest(tsvector_to_array(words)) word where length(word) >= 3 and length(word) <= 32
$$;

-- `offset 0` keeps the planner from computing the query again for every row.
create function products_matching(searched tsquery) returns table (product_id bigint, relevance int) stable language sql as $$
  select s.product_id, (ts_rank(s.words, wanted.query, 1) * 1000000)::int
    from (select searched as query offset 0) wanted join product_search s on s.words @@ wanted.query
$$;
