import { useSuspenseQuery } from '@tanstack/react-query';
import { Fragment, useMemo, useSyncExternalStore, type ReactNode } from 'react';
import { getLanguage, subscribeToLanguage, type Language } from './language-store.ts';
import { loadMessages, parseMessage } from './load-messages.ts';
import type common from './messages/en.json';

type Values = Readonly<Record<string, string | number>>;
type RichValues = Readonly<Record<string, ReactNode | ((parts: ReactNode[]) => ReactNode)>>;

/** Functions that format the messages of a catalog. `Catalog` is the type of the English version. */
export type Translate<Catalog> = {
  /** Returns the message as a string. */
  (key: keyof Catalog & string, values?: Values): string;
  /** Returns the message with inserted elements: `t.rich('placed', { name: <b>Anna</b> })`. */
  readonly rich: (key: keyof Catalog & string, values: RichValues) => ReactNode;
  /**
   * Returns the message with the key `prefix.value`. If there is none, returns the value itself, because a newer server may have more
   * values.
   */
  readonly value: (prefix: string, value: string) => string;
};

export const useLanguage = (): Language => useSyncExternalStore(subscribeToLanguage, getLanguage);

export const useCommonTranslations = (): Translate<typeof common> => useTranslations<typeof common>('common');

/** Returns the messages of a page (`console/src/pages/PAGE/messages`) in the user's language. Suspends until the messages are loaded. */
export function useTranslations<Catalog>(page: string): Translate<Catalog> {
  const language = useLanguage();
  const { data } = useSuspenseQuery({
    queryKey: ['messages', page, language],
    queryFn: () => loadMessages(page, language),
    staleTime: Infinity,
    gcTime: Infinity,
  });
  return useMemo(() => createTranslate<Catalog>(data, language), [data, language]);
}

function createTranslate<Catalog>(catalog: Readonly<Record<string, string>>, language: Language): Translate<Catalog> {
  const translate = (key: string, values?: Values): string => {
    const text = catalog[key] ?? key;
    return text.includes('{') ? String(parseMessage(text, language).format({ ...values })) : text;
  };
  return Object.assign(translate, {
    rich: (key: string, values: RichValues): ReactNode => {
      const parts = parseMessage(catalog[key] ?? key, language).format<ReactNode>({ ...values });
      return [parts].flat().map((part, index) => <Fragment key={index}>{part}</Fragment>);
    },
    value: (prefix: string, value: string): string => (`${prefix}.${value}` in catalog ? translate(`${prefix}.${value}`) : value),
  });
}
