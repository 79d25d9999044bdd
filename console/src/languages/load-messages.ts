import { IntlMessageFormat } from 'intl-messageformat';
import type { Language } from './language-store.ts';

type CatalogModule = { readonly default: Readonly<Record<string, string>> };

const catalogs = {
  ...import.meta.glob<CatalogModule>('./messages/*.json'),
  ...import.meta.glob<CatalogModule>('../pages/*/messages/*.json'),
};

const loaded = new Map<string, Promise<Readonly<Record<string, string>>>>();

/** Loads the message catalog of a page, or the catalog for everything outside the pages (`common`). Each catalog is a separate chunk. */
export function loadMessages(page: string, language: Language): Promise<Readonly<Record<string, string>>> {
  const path = page === 'common' ? `./messages/${language}.json` : `../pages/${page}/messages/${language}.json`;
  const catalog = loaded.get(path) ?? importCatalog(path);
  loaded.set(path, catalog);
  return catalog;
}

async function importCatalog(path: string): Promise<Readonly<Record<string, string>>> {
  const load = catalogs[path];
  if (!load) throw new Error(`there is no message catalog ${path}`);
  return (await load()).default;
}

const formats = new Map<string, IntlMessageFormat>();

/** Returns the parsed message, which is cached. */
export function parseMessage(text: string, language: Language): IntlMessageFormat {
  const key = `${language} ${text}`;
  const format = formats.get(key) ?? new IntlMessageFormat(text, language);
  formats.set(key, format);
  return format;
}
