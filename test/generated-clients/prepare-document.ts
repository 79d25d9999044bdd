import { writeFile } from 'node:fs/promises';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/**
 * The document as a generator of 2020 can read it. Newer ones need none of this but the names, which a constructor in Go is in the
 * way of: `NewApiKey` makes an `ApiKey`.
 */
export async function prepareDocument(from: object, to: string): Promise<void> {
  const text = JSON.stringify(from).replaceAll(/(["/])New([A-Z]\w+)"/g, '$1$2WithSecret"');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what JSON.parse gives is JSON
  await writeFile(to, JSON.stringify(prepared(JSON.parse(text) as Json)));
}

/** What is only for readers, and patterns that Python and Go have other words for; the server checks them anyway. */
const leftOut = new Set(['example', 'examples', 'x-codeSamples', 'pattern']);

function prepared(value: Json): Json {
  if (isList(value)) return value.map(prepared);
  if (typeof value !== 'object' || value === null) return value;
  // alternatives of plain values have no name, and would get one that does not exist
  if ('oneOf' in value) return {};
  const entries = Object.entries(value).filter(
    ([key, one]) =>
      !(leftOut.has(key) && (key !== 'pattern' || typeof one === 'string')) && !(key === 'additionalProperties' && one === false),
  );
  return Object.fromEntries(
    entries.map(([key, one]) => [key, key === 'enum' && isList(one) ? one.filter((choice) => choice !== null) : prepared(one)]),
  );
}

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
