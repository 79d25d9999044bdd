import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';

/** Uses TypeScript 5.9, because TypeScript 7 does not have the API that this test needs. */
const ts = createRequire(join(import.meta.dirname, '../../../client-sdk/package.json'))('typescript');

const fileName = join(import.meta.dirname, 'hovers-example.ts');
const source = `import { createClient } from '@mandate/client-sdk';
const client = createClient({ baseUrl: 'https://shop.example' });
const order = await client.orders.get(1);
const orders = await client.orders.list({ status: ['paid'] });
const firstSummary = orders.data;
const items = order.items;
const events = await client.events.list();
const recent = events.data;
const [event] = recent;
const object = event?.type === 'order.paid' ? event.data.object : undefined;
const input: Parameters<typeof client.orders.create>[0] = { items: [], delivery: { method: 'x', recipient_name: 'x' } };
`;

test('editors show the names of types, not all their members', { timeout: 60_000 }, () => {
  const options = {
    ...ts.getDefaultCompilerOptions(),
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    types: [],
    strict: true,
  };
  const read = (path: string): string | undefined => (path === fileName ? source : ts.sys.readFile(path));
  const service = ts.createLanguageService({
    getCompilationSettings: () => ({
      ...options,
      allowImportingTsExtensions: true,
      noEmit: true,
      lib: ['lib.es2024.d.ts', 'lib.dom.d.ts'],
    }),
    getScriptFileNames: () => [fileName],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path: string) => {
      const text = read(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => import.meta.dirname,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (path: string) => read(path) !== undefined,
    readFile: read,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    realpath: ts.sys.realpath,
  });
  const hover = (name: string): string =>
    ts.displayPartsToString(service.getQuickInfoAtPosition(fileName, source.indexOf(`const ${name}`) + 'const '.length)?.displayParts);
  expect(hover('order')).toBe('const order: Order');
  expect(hover('orders')).toBe('const orders: OrderPage');
  expect(hover('firstSummary')).toBe('const firstSummary: OrderSummary[]');
  expect(hover('items')).toBe('const items: OrderItem[]');
  expect(hover('events')).toBe('const events: EventPage');
  expect(hover('recent')).toBe('const recent: Event[]');
  expect(hover('object')).toBe('const object: Order | undefined');
  expect(hover('input')).toBe('const input: OrderCreate');
});
