import { writeFile } from 'node:fs/promises';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * Simplifies the document for a generator from 2020. Newer generators require only the renaming of schemas: the generated Go constructor
 * for the schema `ApiKey` is named `NewApiKey`, which conflicts with the schema of that name.
 */
export async function prepareDocument(from: object, to: string): Promise<void> {
  const text = JSON.stringify(from).replaceAll(/(["/])New([A-Z]\w+)"/g, '$1$2WithSecret"');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON.parse returns JSON values
  await writeFile(to, JSON.stringify(simplify(JSON.parse(text) as Json)));
}

/**
 * Keys that are removed from the document: examples, which only human readers need; patterns, which the server validates; and `not`,
 * which the generator does not support.
 */
const omittedKeys = new Set(['example', 'examples', 'x-codeSamples', 'pattern', 'not']);

function simplify(value: Json): Json {
  if (isList(value)) return value.map(simplify);
  if (typeof value !== 'object' || value === null) return value;
  // the generator would refer to a type that it does not generate
  if ('oneOf' in value) return {};
  // the last alternative is the most general one
  if ('anyOf' in value && isList(value['anyOf'])) return simplify(value['anyOf'].at(-1) ?? {});
  const entries = Object.entries(value).filter(
    ([key, one]) =>
      !(omittedKeys.has(key) && (key !== 'pattern' || typeof one === 'string')) && !(key === 'additionalProperties' && one === false),
  );
  return Object.fromEntries(
    entries.map(([key, one]) => [key, key === 'enum' && isList(one) ? one.filter((choice) => choice !== null) : simplify(one)]),
  );
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
