-- Text as it is compared: without accents, in lower case, letters and digits only, words separated by one space.
-- The characters that are replaced are listed by code point, because the classes of regular expressions depend on the locale.
create function searchable_text(value text) returns text immutable strict parallel safe language sql as $$
  select trim(regexp_replace(
    replace(replace(replace(translate(
      lower(regexp_replace(normalize(value, NFKD), '[\u0300-\u036f]', '', 'g')),
      'øłđðı', 'olddi'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'),
    '[\u0001-\u002f\u003a-\u0060\u007b-\u00bf\u02b9-\u02bf\u2000-\u206f\u3000-\u303f]+', ' ', 'g'))
$$;

-- Derived from `products` by a trigger, as an index is: no entity, and no part of a backup.
create table product_search (
  product_id bigint primary key references products (id) on update no action on delete cascade,
  words tsvector not null,
  title text not null
);

create index product_search_words on product_search using gin (words);

create index product_search_title on product_search using gin (title gin_trgm_ops);

-- 'simple': names in several languages stand side by side, and the stemming or stop words of one would be wrong for the others.
create function product_search_row(name text, sku text, description text) returns table (words tsvector, title text) immutable language sql as $$
  select setweight(to_tsvector('simple', title), 'A') || setweight(to_tsvector('simple', details), 'C'), title
    from (select searchable_text(name || ' ' || sku) as title, searchable_text(description) as details) searchable
$$;

-- Every word, and the last one as a prefix. Each word is quoted, and contains neither quotes nor backslashes: nothing in it is an operator.
create function product_search_query(searched text) returns tsquery immutable parallel safe language sql as $$
  select to_tsquery('simple', string_agg('''' || word || '''', ' & ' order by place) || ':*')
    from unnest(string_to_array(searchable_text(searched), ' ')) with ordinality as words (word, place)
   where word <> ''
$$;

-- `offset 0` keeps the planner from converting the text again for every row.
create function products_with_words(searched text) returns table (product_id bigint, relevance int) stable language sql as $$
  select s.product_id, (ts_rank(s.words, wanted.query, 1) * 1000000)::int
    from (select product_search_query(searched) as query offset 0) wanted join product_search s on s.words @@ wanted.query
$$;

-- Every word of three characters or more is similar to a part of name and SKU; in descriptions, which may be long, comparing takes too
-- long. The longest word is looked up in the index, because it is the rarest.
create function products_with_similar_words(searched text) returns table (product_id bigint, relevance int) stable rows 50 language plpgsql as $$
declare
  wanted text[] := (select array_agg(word order by length(word) desc)
                      from unnest(string_to_array(searchable_text(searched), ' ')) word where length(word) >= 3);
begin
  -- two exchanged letters in a word of six leave three of its seven trigrams
  perform set_config('pg_trgm.word_similarity_threshold', '0.42', true);
  return query
    select s.product_id, (select (avg(word_similarity(word, s.title)) * 1000000)::int from unnest(wanted) word)
      from product_search s
     where wanted[1] <% s.title and s.title %> all (wanted[2:]);
end
$$;
