import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../support/markdown.ts';
import { renderClientTable, renderToolTable, replaceTable } from './comparison-tables.ts';

const clients = [{ name: '`tiny`', gzippedBytes: 1234, startUpMs: 4.4, installedMb: 0.26, packages: 1 }];

test('the tables in docs/clients.md can be replaced', async () => {
  const document = await readFile(join(repositoryRoot, 'docs/clients.md'), 'utf8');
  const table = renderClientTable(clients);
  expect(table).toContain('| `tiny` | 1,234 bytes | 4 ms | 0.3 MB | 1 |');
  const replaced = replaceTable(document, 'Client libraries:', table);
  expect(replaced).toContain(`Client libraries:\n\n${table}\n\n`);
  expect(replaceTable(replaced, 'Tools for assistants:', renderToolTable([]))).toContain('`tiny`');
  expect(() => replaceTable(document, 'Servers:', table)).toThrow('Servers:');
});
