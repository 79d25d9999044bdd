-- Normalizes text for comparisons: no accents, lower case, only letters and digits, words separated by one space.
-- The characters to replace are listed by code point, because regular expression classes depend on the locale.
create function searchable_text(value text) returns text immutable strict parallel safe language sql as $$
  select trim(regexp_replace(
    replace(replace(replace(translate(
      lower(regexp_replace(normalize(value, NFKD), '[\u0300-\u036f]', '', 'g')),
      'øłđðı', 'olddi'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'),
    '[\u0001-\u002f\u003a-\u0060\u007b-\u00bf\u02b9-\u02bf\u2000-\u206f\u3000-\u303f]+', ' ', 'g'))
$$;

-- A trigger derives this table from `products`, like an index, so it has no entity and is not part of backups.
create table product_search (
  product_id bigint primary key references products (id) on update no action on delete cascade,
  words tsvector not null,
  title text not null
);

create index product_search_words on product_search using gin (words);

create index product_search_title on product_search using gin (title gin_trgm_ops);

-- The configuration is 'simple', because names can be in several languages, and the stemming and stop words of one language would be wrong
-- for the others.
create function product_search_row(name text, sku text, description text) returns table (words tsvector, title text) immutable language sql as $$
  select setweight(to_tsvector('simple', title), 'A') || setweight(to_tsvector('simple', details), 'C'), title
    from (select searchable_text(name || ' ' || sku) as title, searchable_text(description) as details) searchable
$$;

-- Matches every word, and the last word as a prefix. Words are quoted and contain neither quotes nor backslashes, so no word is interpreted
-- as an operator.
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

-- Every word of at least three characters must be similar to part of the name or SKU; comparing descriptions, which can be long, would take
-- too long. The longest word is looked up in the index, because it is the rarest.
create function products_with_similar_words(searched text) returns table (product_id bigint, relevance int) stable rows 50 language plpgsql as $$
declare
  wanted text[] := (select array_agg(word order by length(word) desc)
                      from unnest(string_to_array(searchable_text(searched), ' ')) word where length(word) >= 3);
begin
  -- swapping two letters in a word of six letters leaves three of its seven trigrams
  perform set_config('pg_trgm.word_similarity_threshold', '0.42', true);
  return query
    select s.product_id, (select (avg(word_similarity(word, s.title)) * 1000000)::int from unnest(wanted) word)
      from product_search s
     where wanted[1] <% s.title and s.title %> all (wanted[2:]);
end
$$;
