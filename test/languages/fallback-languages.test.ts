import { expect, test } from 'vitest';
import { Languages } from '../../server/languages/languages.ts';
import { flattenMessageCatalog, type MessageCatalog } from '../../server/languages/message-catalog.ts';

/** Returns all texts in a language whose catalog may be incomplete, keyed by path. Messages with arguments are formatted. */
function texts(english: MessageCatalog, tag: string, catalog: MessageCatalog): Record<string, string> {
  const language = new Languages(
    new Map([
      ['en', { language: { name: 'English' }, ...english }],
      [tag, catalog],
    ]),
  ).match(tag);
  const found = new Map<string, string>();
  const visit = (group: object, path: string): void => {
    for (const [key, value] of Object.entries(group) as [string, unknown][]) {
      if (typeof value === 'string') found.set(path + key, value);
      else if (typeof value === 'function') found.set(path + key, String(value({ name: 'Ann', count: 2 })));
      else if (typeof value === 'object' && value !== null) visit(value, `${path}${key}.`);
    }
  };
  visit(language?.messages ?? {}, '');
  return Object.fromEntries(found);
}

const named = { language: { name: 'Italiano' } };

test('a language replaces the English messages for which it has translations, and contains its tag', () => {
  const english = { a: { title: 'Title', text: 'Text' }, b: 'Other' };
  expect(texts(english, 'it', { ...named, a: { title: 'Titolo' } })).toEqual({
    'language.name': 'Italiano',
    'language.tag': 'it',
    'a.title': 'Titolo',
    'a.text': 'Text',
    b: 'Other',
  });
});

test('a message with arguments is formatted in the language', () => {
  const english = { hello: 'Hello {name}', total: '{count, plural, one {# order} other {# orders}}' };
  const italian = { hello: 'Ciao {name}', total: '{count, plural, one {# ordine} other {# ordini}}' };
  expect(texts(english, 'it', { ...named, ...italian })).toMatchObject({ hello: 'Ciao Ann', total: '2 ordini' });
});

test('the English message is used instead of a message that cannot be formatted or has the wrong kind', () => {
  const english = { plain: 'Plain', argument: 'Hello {name}', unknown: 'Hi {name}', group: { one: 'One' }, text: 'Text' };
  const italian = { plain: 'Con {name}', argument: 'Ciao {name', unknown: 'Ciao {surname}', group: 'Uno', text: { one: 'Uno' } };
  expect(texts(english, 'it', { ...named, ...italian })).toMatchObject({
    plain: 'Plain',
    argument: 'Hello Ann',
    unknown: 'Hi Ann',
    'group.one': 'One',
    text: 'Text',
  });
});

test('a message may omit the arguments of the English message', () => {
  expect(texts({ hello: 'Hello {name}' }, 'it', { ...named, hello: 'Ciao' })).toMatchObject({ hello: 'Ciao' });
});

test('the languages are listed with English first, and a tag selects the most specific language', () => {
  const catalogs = ['de', 'en', 'fr', 'fr-CA'].map((tag) => [tag, { language: { name: tag } }] as const);
  const languages = new Languages(new Map(catalogs));
  expect(languages.tags).toEqual(['en', 'de', 'fr', 'fr-CA']);
  const match = (tag: string): string | undefined => languages.match(tag)?.tag;
  expect(['fr', 'fr-ca', 'FR-CA-x-a', 'fr-BE', 'frr', 'it', ''].map(match)).toEqual([
    'fr',
    'fr-CA',
    'fr-CA',
    'fr',
    undefined,
    undefined,
    undefined,
  ]);
});

test('English is required', () => {
  expect(() => new Languages(new Map([['de', named]]))).toThrow('there is no message catalog en.json');
});

test('a flattened catalog contains the path of every message', () => {
  expect([...flattenMessageCatalog({ a: { b: { c: 'C' } }, d: 'D' })]).toEqual([
    ['a.b.c', 'C'],
    ['d', 'D'],
  ]);
});
