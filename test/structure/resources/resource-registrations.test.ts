import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findMissingRegistrations, type SourceFiles } from './resource-registrations.ts';

const root = join(import.meta.dirname, '../../..');
const patterns = [
  'contract/index.ts',
  'contract/protocol/*.ts',
  'contract/resources/**/*.ts',
  'contract/baseline/v1.json',
  'server/*/**/*.ts',
  'server-layers.ts',
  'CHANGELOG.md',
];
const paths = globSync(patterns, { cwd: root, exclude: ['**/node_modules/**'] });
const files: SourceFiles = new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));

test('every resource is registered everywhere', () => {
  expect(files.size).toBeGreaterThan(300);
  expect(findMissingRegistrations(files)).toEqual([]);
});

test.each([
  [
    'contract/index.ts',
    '  shipments: shipmentRoutes,\n',
    'contract/index.ts: add "shipments: shipmentRoutes," to the list "resources", because contract/resources/orders/shipments.ts declares these routes',
  ],
  [
    'server/app/resource-routes.ts',
    `export { shipmentRoutes as shipments } from '../shipments/routes.ts';\n`,
    `server/app/resource-routes.ts: add "export { shipmentRoutes as shipments } from '../shipments/routes.ts';", because contract/index.ts lists shipments`,
  ],
  [
    'server/schema/database-entities.ts',
    `export { Shipment } from '../shipments/shipment.entity.ts';\n`,
    `server/schema/database-entities.ts: add "export { Shipment } from '../shipments/shipment.entity.ts';"`,
  ],
  [
    'contract/protocol/scopes.ts',
    `  'shipments.write': { consent: 'Ship orders and update the status of parcels', admin: true },\n`,
    `contract/protocol/scopes.ts: add the scope 'shipments.write', because contract/resources/orders/shipments.ts uses it`,
  ],
  [
    'contract/resources/events/events.ts',
    `, 'disabled'`,
    `contract/resources/events/events.ts: add the change 'disabled' of the subject "webhook_endpoint" to "eventSubjects", because server/webhooks/endpoints/disable-webhook-endpoint.ts records it`,
  ],
  [
    'server-layers.ts',
    `'shipments', `,
    `server-layers.ts: add 'shipments' to a layer, as "shop" if it belongs to the shop, otherwise as "common"`,
  ],
])('a line that is missing in %s is reported', (path, line, message) => {
  const source = files.get(path) ?? '';
  expect(source).toContain(line);
  expect(findMissingRegistrations(new Map([...files, [path, source.replace(line, '')]]))).toEqual([message]);
});

test('a new resource that the changelog does not mention is reported', () => {
  const path = 'contract/resources/planted/planted.ts';
  const contract = `export const plantedRoutes = defineResource('Planted', 'A planted resource.', {\n  list: { metadata: { operationId: 'planted.list' } },\n});\n`;
  expect(findMissingRegistrations(new Map([...files, [path, contract]]))).toEqual([
    `contract/index.ts: add "planted: plantedRoutes," to the list "resources", because ${path} declares these routes`,
    `CHANGELOG.md: describe the new resource "Planted" of ${path} for users`,
  ]);
});

test('ARCHITECTURE.md names every file in which a resource is registered', () => {
  const architecture = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const [, table = ''] = /^\*\*A new resource changes these files\*\*.*\n\n((?:\|.*\n)+)/m.exec(architecture) ?? [];
  const named = Array.from(table.matchAll(/`([\w-]+(?:[/.][\w.-]+)+)`/g), ([, path = '']) => path);
  const checked = readFileSync(join(import.meta.dirname, 'resource-registrations.ts'), 'utf8');
  const registrationFiles = Array.from(checked.matchAll(/^const \w+ = '([\w./-]+)';$/gm), ([, path]) => path);
  expect(registrationFiles.length).toBeGreaterThan(5);
  expect(named).toEqual(expect.arrayContaining([...registrationFiles, 'test/quick/quick-test-files.ts', 'docs/walkthrough.arazzo.yaml']));
  expect(named.filter((path) => !/FOLDER|NAME/.test(path) && !existsSync(join(root, path)))).toEqual([]);
});
