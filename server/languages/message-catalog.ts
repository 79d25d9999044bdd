import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** Messages in ICU MessageFormat, grouped by page. */
export type MessageCatalog = { readonly [key: string]: string | MessageCatalog };

const messageCatalogSchema: z.ZodType<MessageCatalog> = z.lazy(() => z.record(z.union([z.string(), messageCatalogSchema])));

/** Schema of a catalog file. The name of the language is required, because the name in the English catalog is not a meaningful fallback. */
const catalogFileSchema = messageCatalogSchema.and(
  z.object({ language: z.object({ name: z.string().min(1) }).passthrough() }).passthrough(),
);

const bundledCatalogs = new URL('catalogs/', import.meta.url);

/** Reads the catalogs in a directory. The name of each file is a BCP 47 language tag, such as `de.json`. */
export function readMessageCatalogs(directory: URL = bundledCatalogs): ReadonlyMap<string, MessageCatalog> {
  const names = readdirSync(fileURLToPath(directory)).filter((name) => name.endsWith('.json'));
  const tags = names.toSorted().map((name) => name.slice(0, -'.json'.length));
  return new Map(tags.map((tag) => [tag, readCatalog(new URL(`${tag}.json`, directory), tag)]));
}

function readCatalog(file: URL, tag: string): MessageCatalog {
  try {
    Intl.getCanonicalLocales(tag);
    return catalogFileSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    throw new Error(
      `${fileURLToPath(file)} is not a message catalog: name the file after the language tag, and write a JSON object of messages with the name of the language in language.name`,
      { cause: error },
    );
  }
}

/** Returns the messages of a catalog, keyed by path (such as `consoleSignIn.title`). */
export const flattenMessageCatalog = (catalog: MessageCatalog, prefix = ''): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(catalog).flatMap(([key, value]): (readonly [string, string])[] =>
      typeof value === 'string' ? [[prefix + key, value]] : [...flattenMessageCatalog(value, `${prefix}${key}.`)],
    ),
  );
