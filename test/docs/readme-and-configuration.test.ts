import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { environmentSchema } from '../../server/config/read-config.ts';
import { readCodeBlocks, repositoryRoot } from '../support/markdown.ts';

test('the README has fewer than 120 lines, and begins with the commands that start and test the server', async () => {
  const text = await readFile(join(repositoryRoot, 'README.md'), 'utf8');
  expect(text.split('\n').length).toBeLessThan(120);
  const commands = (await readCodeBlocks('README.md')).slice(0, 2).map((block) => block.text.trim());
  expect(commands).toEqual(['npm ci && npm start', 'npm ci && npm test']);
});

test('docs/configuration.md lists every environment variable of the server, with its default', async () => {
  const text = await readFile(join(repositoryRoot, 'docs/configuration.md'), 'utf8');
  const rows = Array.from(text.matchAll(/^\| (`[A-Z_`, ]+`) \| ([^|]*)\|/gm), ([, names = '', defaults = '']) => ({
    names: names.replaceAll('`', '').split(', '),
    defaults: defaults.replaceAll('`', '').trim(),
  }));
  const variables = Object.keys(environmentSchema.innerType().shape);
  expect(rows.flatMap(({ names }) => names).toSorted()).toEqual(variables.toSorted());
  const defaults = new Map<string, unknown>(Object.entries(environmentSchema.parse({})));
  const comparable = rows.filter(({ names, defaults: value }) => names.length === 1 && /^[^\s$]+$/.test(value));
  expect(comparable.length).toBeGreaterThan(15);
  for (const { names, defaults: documented } of comparable)
    expect([names[0], documented]).toEqual([names[0], String(defaults.get(names[0] ?? ''))]);
});
