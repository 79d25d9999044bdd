import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { IntlMessageFormat } from 'intl-messageformat';
import { z } from 'zod';

/** Messages in ICU MessageFormat, grouped by page. */
export type MessageCatalog = { readonly [key: string]: string | MessageCatalog };

const messageCatalogSchema: z.ZodType<MessageCatalog> = z.lazy(() => z.record(z.union([z.string(), messageCatalogSchema])));

/** Schema of a catalog file. The name of the language is required, because the English catalog cannot replace a missing name. */
const catalogFileSchema = messageCatalogSchema.and(
  z.object({ language: z.object({ name: z.string().min(1) }).passthrough() }).passthrough(),
);

const shippedCatalogs = new URL('catalogs/', import.meta.url);

/** Reads the catalogs in a directory. The name of each file is a BCP 47 language tag, such as `de.json`. */
export function readMessageCatalogs(directory: URL = shippedCatalogs): ReadonlyMap<string, MessageCatalog> {
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

/** Returns the messages of a catalog by their path, such as `signIn.title`. */
export const flattenMessageCatalog = (catalog: MessageCatalog, prefix = ''): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(catalog).flatMap(([key, value]): (readonly [string, string])[] =>
      typeof value === 'string' ? [[prefix + key, value]] : [...flattenMessageCatalog(value, `${prefix}${key}.`)],
    ),
  );

/** Parses a message. XML-like tags are plain text, because the pages escape all messages. */
export const parseMessage = (message: string, language: string): IntlMessageFormat =>
  new IntlMessageFormat(message, language, undefined, { ignoreTag: true });

type MessageArgumentType = 'string' | 'number' | 'Date';

type MessageElement = { type: number; value?: string | undefined; options?: Record<string, { value: MessageElement[] }> | undefined };
const elementSchema: z.ZodType<MessageElement> = z.lazy(() =>
  z.object({
    type: z.number(),
    value: z.string().optional(),
    options: z.record(z.object({ value: z.array(elementSchema) })).optional(),
  }),
);
/** Element types of the ICU MessageFormat parser that take an argument: plain text, number, date, time, select and plural. */
const argumentTypes: Readonly<Record<number, MessageArgumentType>> = {
  1: 'string',
  2: 'number',
  3: 'Date',
  4: 'Date',
  5: 'string',
  6: 'number',
};

/** Returns the names and types of a message's arguments. */
export function listMessageArguments(message: string, language: string): ReadonlyMap<string, MessageArgumentType> {
  const found = new Map<string, MessageArgumentType>();
  const visit = ({ type, value = '', options = {} }: MessageElement): void => {
    const argumentType = argumentTypes[type];
    if (argumentType !== undefined) found.set(value, argumentType);
    for (const option of Object.values(options)) option.value.forEach(visit);
  };
  z.array(elementSchema).parse(parseMessage(message, language).getAst()).forEach(visit);
  return found;
}
