import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { listMessageArguments } from '../../server/languages/parse-message-and-list-arguments.ts';

const sources = join(import.meta.dirname, '../../console/src');
const folders = globSync('**/messages/en.json', { cwd: sources }).map((file) => file.replace(/\/en\.json$/, ''));

const readCatalog = (folder: string, language: string): Record<string, string> =>
  z.record(z.string().min(1)).parse(JSON.parse(readFileSync(join(sources, folder, `${language}.json`), 'utf8')));

const readArguments = (text: string) => listMessageArguments(text, 'en');

describe.each(folders)('the messages of the console in %s', (folder) => {
  const english = readCatalog(folder, 'en');

  test.each(['de', 'fr', 'es'])('exist in %s, with the same arguments', (language) => {
    const catalog = readCatalog(folder, language);
    expect(Object.keys(catalog)).toEqual(Object.keys(english));
    for (const [key, text] of Object.entries(english)) expect(readArguments(catalog[key] ?? ''), key).toEqual(readArguments(text));
  });

  test('are used', () => {
    const code = globSync('**/*.{ts,tsx}', { cwd: sources })
      .map((file) => readFileSync(join(sources, file), 'utf8'))
      .join('\n');
    // A key is used as a whole, or its prefix is used in a template or as the prefix of `t.value`.
    const isUsed = (key: string): boolean =>
      [key, `${key.slice(0, key.lastIndexOf('.'))}.\${`, `'${key.slice(0, key.indexOf('.'))}', `].some((text) => code.includes(text));
    expect(Object.keys(english).filter((key) => !isUsed(key))).toEqual([]);
  });
});

test.each(['en', 'de', 'fr', 'es'])('the console names each action in the audit log in the same words on all pages in %s', (language) => {
  const names = new Map<string, Set<string>>();
  for (const [key, text] of folders.flatMap((folder) => Object.entries(readCatalog(folder, language)))) {
    if (key.startsWith('action.')) names.set(key, (names.get(key) ?? new Set()).add(text));
  }
  expect([...names].filter(([, texts]) => texts.size > 1)).toEqual([]);
});
