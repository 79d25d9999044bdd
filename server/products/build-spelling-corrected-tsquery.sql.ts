import { type RawBuilder, sql } from 'kysely';
import { runPreparedDynamicQuery } from '../database/queries/dynamic-query.ts';
import type { EntityManager } from '../database/entity-manager/entity-manager-type.ts';
import { calculateEditDistance } from './calculate-edit-distance.ts';

/**
 * A word of the search text. `is_known` states whether any product that the caller can see contains the word. If no such product contains
 * the word, `similar` lists similar words from the products that the caller can see.
 */
type SearchedWord = { readonly word: string; readonly is_known: boolean; readonly similar: readonly string[] | null };

/**
 * Maximum number of corrected words. The number is limited because each correction takes time, and because the cursor contains the
 * replacements.
 */
const correctedMax = 3;
/**
 * Maximum number of similar words for which the edit distance is calculated, and maximum number of words that replace one misspelled word.
 */
const [comparedMax, replacementsMax] = [20, 3];

// Written in SQL because MikroORM supports neither full-text search nor trigrams.
/**
 * Returns a search query for `text` in `to_tsquery` syntax. Every misspelled word is replaced by the most similar words that occur in
 * products with these statuses. Returns `undefined` if no word is misspelled or a misspelled word has no similar word. Products with other
 * statuses never affect the result.
 */
export async function buildSpellingCorrectedTsquery(
  em: EntityManager,
  text: string,
  statuses: readonly string[],
): Promise<string | undefined> {
  const words = await runPreparedDynamicQuery(em, buildSelectSimilarWordsQuery(text, statuses));
  if (words.every((word) => word.is_known)) return undefined;
  const alternatives = words.map(({ word, is_known: isKnown, similar }) => (isKnown ? [word] : nearestWords(word, similar ?? [])));
  if (alternatives.some((each) => each.length === 0)) return undefined;
  // The last word may be incomplete, so it is matched as a prefix, as in `product_search_query`.
  const terms = alternatives.map((each, index) => each.map((word) => `'${word}'${index === words.length - 1 ? ':*' : ''}`).join(' | '));
  return terms.map((term) => `(${term})`).join(' & ');
}

/** Returns the similar words with the smallest edit distance (at most 1, or at most 2 for words of 6 letters or more). */
function nearestWords(word: string, similar: readonly string[]): string[] {
  const distances = similar.map((each) => ({ each, distance: calculateEditDistance(word, each) }));
  const nearest = Math.min(word.length < 6 ? 1 : 2, ...distances.map(({ distance }) => distance));
  return distances
    .filter(({ distance }) => distance === nearest)
    .slice(0, replacementsMax)
    .map(({ each }) => each);
}

/** Builds the query that returns the words of the text, and similar words for each unknown word. */
export const buildSelectSimilarWordsQuery = (text: string, statuses: readonly string[]): RawBuilder<SearchedWord> => sql`
  with words as (
    select word, place, to_tsquery('simple', '''' || word || '''' || case when lead(place) over (order by place) is null then ':*' else '' end) as query
      from unnest(string_to_array(searchable_text(${text}), ' ')) with ordinality as split (word, place) where word <> ''
  ), compared as (
    select word, place, numnode(query) = 0 or ${isVisible(sql`words.query`, statuses)} as is_known from words
  ), numbered as (
    select word, place, is_known, row_number() over (partition by is_known order by place) as number from compared
  )
  select word, is_known,
         case when not is_known and number <= ${sql.lit(correctedMax)} and length(word) >= 3 then array(${similarWords(statuses)}) end as similar
    from numbered order by place`;

/**
 * Trigram similarity finds the intended word for most misspellings. However, if two letters of a short word are swapped, few trigrams
 * match, so all possible swaps are also looked up.
 */
const similarWords = (statuses: readonly string[]): RawBuilder<unknown> => sql`
  select found.word
    from (select candidate.word, max(candidate.similarity) as similarity
            from (select known.word, similarity(known.word, numbered.word) as similarity from product_words known
                   where known.word % numbered.word and abs(length(known.word) - length(numbered.word)) <= 2
                   union all
                  select known.word, 1 from product_words known where known.word = any(array(
                    select overlay(numbered.word placing reverse(substr(numbered.word, place, 2)) from place for 2)
                      from generate_series(1, length(numbered.word) - 1) place))) candidate
           group by candidate.word order by 2 desc, 1 offset 0) found
   where ${isVisible(sql`to_tsquery('simple', '''' || found.word || '''')`, statuses)}
   limit ${sql.lit(comparedMax)}`;

/**
 * Tests whether a product with one of these statuses matches the search query. `offset 0` makes PostgreSQL use the word index even for a
 * single result.
 */
const isVisible = (query: RawBuilder<unknown>, statuses: readonly string[]): RawBuilder<unknown> => sql`exists (
  select from (select product_id from product_search where words @@ ${query} offset 0) matching
    join products p on p.id = matching.product_id where p.status = any(${statuses}::text[]))`;
