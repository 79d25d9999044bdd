import { z } from 'zod';
import type { Messages } from './messages.gen.ts';
import { readMessageCatalogs, type MessageCatalog } from './message-catalog.ts';
import { parseMessage } from './parse-message-and-list-arguments.ts';

export type { Messages } from './messages.gen.ts';

/** A language in which pages, e-mails and error responses are available. */
export type Language = { readonly tag: string; readonly messages: Messages };

/** The language that is used if a request has no preference. The catalog of this language contains every message. */
export const defaultLanguageTag = 'en';

export class Languages {
  readonly default: Language;
  readonly #byTag: ReadonlyMap<string, Language>;

  /** @param catalogs message catalogs by language tag; if a catalog lacks a message, the message of the English catalog is used */
  constructor(catalogs: ReadonlyMap<string, MessageCatalog> = readMessageCatalogs()) {
    const english = catalogs.get(defaultLanguageTag);
    if (english === undefined) throw new Error(`there is no message catalog ${defaultLanguageTag}.json`);
    const createLanguage = (tag: string, catalog: MessageCatalog): Language => ({ tag, messages: createMessages(tag, catalog, english) });
    this.default = createLanguage(defaultLanguageTag, english);
    const others = [...catalogs].filter(([tag]) => tag !== defaultLanguageTag).map(([tag, catalog]) => createLanguage(tag, catalog));
    this.#byTag = new Map([this.default, ...others].map((language) => [language.tag.toLowerCase(), language]));
  }

  /** All languages. The default language is first, followed by the other languages, sorted by tag. */
  get all(): readonly Language[] {
    return [...this.#byTag.values()];
  }

  get tags(): string[] {
    return this.all.map(({ tag }) => tag);
  }

  /**
   * Returns the language with this tag, or else the language with the longest tag that is a prefix of this tag, such as `de` for `de-AT`
   * (RFC 4647 section 3.4).
   */
  match(tag: string): Language | undefined {
    const subtags = tag.toLowerCase().split('-');
    for (let length = subtags.length; length > 0; length -= 1) {
      const language = this.#byTag.get(subtags.slice(0, length).join('-'));
      if (language) return language;
    }
    return undefined;
  }
}

/** The languages that are bundled with the server. */
export const bundledLanguages = new Languages();

/**
 * Creates the messages of a language. A message without arguments is a string; any other message is a function that formats the message.
 * Messages are parsed when they are first used.
 */
function createMessages(tag: string, catalog: MessageCatalog, english: MessageCatalog): Messages {
  const messages = createGroup(tag, catalog, english);
  return z.custom<Messages>().parse({ ...messages, language: { ...z.object({}).passthrough().parse(messages['language']), tag } });
}

type Group = { [key: string]: Message | Group };

function createGroup(tag: string, catalog: MessageCatalog, englishGroup: MessageCatalog): Group {
  const entries = Object.entries(englishGroup).map(([key, fallback]): [string, Group[string]] => {
    const translated = catalog[key];
    if (typeof fallback !== 'string') return [key, createGroup(tag, typeof translated === 'object' ? translated : {}, fallback)];
    const english = createMessage(fallback, defaultLanguageTag);
    return [key, typeof translated === 'string' && tag !== defaultLanguageTag ? createMessage(translated, tag, english) : english];
  });
  return Object.fromEntries(entries);
}

type Message = string | ((values: Record<string, string | number | Date>) => string);

/**
 * Creates a message. If the text is not valid ICU MessageFormat, or its arguments differ from the English message, the English message is
 * used.
 */
function createMessage(text: string, tag: string, english?: Message): Message {
  if (typeof english === 'string') return text.includes('{') ? english : text;
  if (!text.includes('{')) return english === undefined ? text : () => text;
  let parsed: ReturnType<typeof parseMessage> | undefined;
  return (values) => {
    try {
      parsed ??= parseMessage(text, tag);
      return String(parsed.format(values));
    } catch (error) {
      if (english === undefined) throw error;
      return english(values);
    }
  };
}
