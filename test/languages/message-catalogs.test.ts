import { problemDeclarations, scopeDefinitions, scopeNames } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { describeScope } from '../../server/oauth/pages/views/describe-scope.ts';
import { openIdConnectScopes } from '../../server/oauth/protocol/oauth-scopes.ts';
import { generateMessageTypes } from '../../server/languages/generate-message-types.ts';
import { bundledLanguages } from '../../server/languages/languages.ts';
import { flattenMessageCatalog, readMessageCatalogs, type MessageCatalog } from '../../server/languages/message-catalog.ts';
import { listMessageArguments } from '../../server/languages/parse-message-and-list-arguments.ts';

const { en = {}, ...translations } = Object.fromEntries(readMessageCatalogs());

/** Describes every difference between a translation and the English catalog that would make a page show incorrect text. */
function findCatalogErrors(tag: string, catalog: MessageCatalog, english: MessageCatalog): string[] {
  const [translated, expected] = [flattenMessageCatalog(catalog), flattenMessageCatalog(english)];
  return [
    ...[...expected.keys()].filter((key) => !translated.has(key)).map((key) => `${tag}: ${key} is missing`),
    ...[...translated].flatMap(([key, text]) => {
      const original = expected.get(key);
      if (original === undefined) return [`${tag}: ${key} does not exist in English`];
      return [...compareArguments(tag, key, text, original), ...findTypographyErrors(tag, key, text)];
    }),
  ];
}

function compareArguments(tag: string, key: string, text: string, original: string): string[] {
  const [found, expected] = [listMessageArguments(text, tag), listMessageArguments(original, 'en')];
  return [
    ...[...expected.keys()].filter((name) => !found.has(name)).map((name) => `${tag}: ${key} lacks {${name}}`),
    ...[...found]
      .filter(([name, type]) => expected.get(name) !== type)
      .map(([name]) => `${tag}: ${key} has {${name}}, which English lacks or uses with another type`),
  ];
}

/** In ICU MessageFormat, a straight apostrophe before a brace starts quoted text, so that the argument would not be replaced. */
const findTypographyErrors = (tag: string, key: string, text: string): string[] => [
  ...(text.includes("'") ? [`${tag}: ${key} has a straight apostrophe: use ’`] : []),
  ...(tag === 'fr' && / [:;?!»]|« /.test(text) ? [`${tag}: ${key} has a space beside a punctuation mark where a line can break`] : []),
  ...(text.trim() === text && text !== '' ? [] : [`${tag}: ${key} is empty or has spaces at its ends`]),
];

/** Returns the scopes that lack a consent text. */
const findScopesWithoutText = (tag: string, { permission = {} }: MessageCatalog, scopes: readonly string[]): string[] =>
  scopes.filter((scope) => typeof permission === 'string' || !permission[scope]).map((scope) => `${tag}: ${scope} has no consent text`);

test('there are catalogs for English, German, French and Spanish', () => {
  expect(Object.keys(translations)).toEqual(expect.arrayContaining(['de', 'es', 'fr']));
});

describe.each(Object.entries({ en, ...translations }))('%s', (tag, catalog) => {
  test('has every message, with the arguments of the English message', () => {
    expect(findCatalogErrors(tag, catalog, en)).toEqual([]);
  });

  test('has a consent text for every scope', () => {
    expect(findScopesWithoutText(tag, catalog, [...openIdConnectScopes, ...scopeNames])).toEqual([]);
  });

  test('has every plural form of the language', () => {
    const forms = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
    expect(forms).toEqual(expect.arrayContaining(['one', 'other']));
    const plurals = [...flattenMessageCatalog(catalog)].filter(([, text]) => text.includes(', plural,'));
    expect(plurals.filter(([, text]) => !/\bone \{/.test(text) || !/\bother \{/.test(text))).toEqual([]);
  });
});

test('the consent texts in English are those of the contract', () => {
  const consentTexts = scopeNames.map((scope) => [scope, scopeDefinitions[scope].consent]);
  expect(scopeNames.map((scope) => [scope, describeScope(bundledLanguages.default, scope, [])])).toEqual(consentTexts);
});

test('a missing message, a missing or extra argument and a scope without a text are reported by name', () => {
  const english = { page: { title: 'Hello {name}', text: 'Text', count: '{n, plural, one {#} other {#}}' }, permission: { a: 'A' } };
  const german = { page: { title: 'Hallo {nam}', count: '{n}', more: 'Mehr' }, permission: { a: "l'{x}" } };
  expect(findCatalogErrors('de', german, english)).toEqual([
    'de: page.text is missing',
    'de: page.title lacks {name}',
    'de: page.title has {nam}, which English lacks or uses with another type',
    'de: page.count has {n}, which English lacks or uses with another type',
    'de: page.more does not exist in English',
    'de: permission.a has a straight apostrophe: use ’',
  ]);
  expect(findScopesWithoutText('de', german, ['a', 'refunds.approve'])).toEqual(['de: refunds.approve has no consent text']);
});

test('the types of the messages contain their arguments', () => {
  const types = generateMessageTypes();
  expect(types).toContain('readonly "title": (values: { readonly "application": string; readonly "shop": string }) => string');
  expect(types).toContain('readonly "duration": (values: { readonly "days": number }) => string');
});

test('the titles of problems in English are those of the contract', () => {
  const texts = flattenMessageCatalog(en);
  const titles = Object.entries(problemDeclarations).map(([code, { title }]) => [code, title]);
  expect(titles.map(([code]) => [code, texts.get(`problem.${code}`)])).toEqual(titles);
});
