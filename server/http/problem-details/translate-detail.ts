import { formatDecimalAmount } from '@mandate/contract';
import { z } from 'zod';
import { bundledLanguages, defaultLanguageTag, type Language } from '../../languages/languages.ts';
import { TranslatableText, type Amount, type ProblemDetail, type TextValue } from './translatable-text.ts';

type Message = string | ((values: Readonly<Record<string, string | number>>) => string);

const messagesSchema = z.custom<Readonly<Record<string, Message>>>();

/**
 * Returns the detail of a problem in the given language. Text that the catalogs do not contain is returned in English.
 * @param onUntranslated called for each text that the catalogs do not contain
 */
export function translateDetail(detail: ProblemDetail, language: Language, onUntranslated: () => void = () => undefined): string {
  const messages = messagesSchema.parse(language.messages.problemDetail);
  // British English has no comma before the last item.
  const listLocale = language.tag === defaultLanguageTag ? 'en-GB' : language.tag;
  const translate = (text: ProblemDetail): string => {
    if (typeof text === 'string') return translate(new TranslatableText(text));
    if (!(text instanceof TranslatableText)) return text.map(translate).join(' ');
    const values = Object.fromEntries(Object.entries(text.values).map(([name, value]) => [name, formatValue(value)]));
    const message = Object.hasOwn(messages, text.message) ? messages[text.message] : undefined;
    if (message !== undefined) return typeof message === 'string' ? message : message(values);
    onUntranslated();
    return text.message.replaceAll(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));
  };
  const formatValue = (value: TextValue): string | number => {
    if (typeof value !== 'object') return value;
    if (value instanceof TranslatableText) return translate(value);
    if (value instanceof Date) return formatTimestamp(value, language.tag);
    if ('anyOf' in value) return new Intl.ListFormat(listLocale, { type: 'disjunction' }).format(value.anyOf);
    if ('allOf' in value) return new Intl.ListFormat(listLocale).format(value.allOf.map((each) => String(formatValue(each))));
    return formatAmountWithoutCurrency(value, language.tag);
  };
  return translate(detail);
}

// English texts contain timestamps and amounts in the API format, so that developers can compare them with requests and logs.
const formatTimestamp = (time: Date, tag: string): string =>
  tag === defaultLanguageTag
    ? time.toISOString()
    : new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' }).format(time);

function formatAmountWithoutCurrency({ amount, currency }: Amount, tag: string): string {
  const decimal = formatDecimalAmount(amount, currency);
  if (tag === defaultLanguageTag || currency === '') return `${decimal} ${currency}`;
  return new Intl.NumberFormat(tag, { style: 'currency', currency, currencyDisplay: 'code' }).format(Number(decimal));
}

/** Returns the detail of a problem in English. */
export const formatInEnglish = (detail: ProblemDetail): string => translateDetail(detail, bundledLanguages.default);
