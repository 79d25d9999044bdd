import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { contract, listRoutes } from '@mandate/contract';
import { expect, test } from 'vitest';
import { quickTestFiles, resourceTestFiles } from '../quick/quick-test-files.ts';

const root = join(import.meta.dirname, '../..');

type Routes = Parameters<typeof listRoutes>[0];

/**
 * Returns whether a test file calls a path of these routes. Only the last constant path segment is compared, such as `refunds` in
 * `/orders/:id/refunds`.
 */
const callsRoutes = (source: string, routes: Routes): boolean =>
  listRoutes(routes)
    .map(({ path }) => path.split('/').findLast((segment) => segment !== '' && !segment.startsWith(':')))
    .some((segment) => new RegExp(`/${segment}(?![\\w-]|/v1)`).test(source));

const files = new Map(Object.entries(resourceTestFiles));

test('the quick tests have a file for every resource of the contract', () => {
  expect(Object.keys(resourceTestFiles).toSorted()).toEqual(Object.keys(contract).toSorted());
  expect(quickTestFiles.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test.each(Object.entries(contract))('the quick tests of %s call one of its paths', async (resource, routes) => {
  expect(callsRoutes(await readFile(join(root, 'test/api', files.get(resource) ?? ''), 'utf8'), routes)).toBe(true);
});

test('a file that calls only other paths does not count', () => {
  expect(callsRoutes(`await mandate.callApi('GET', '/api/v1/orders/7')`, contract.orders)).toBe(true);
  expect(callsRoutes(`await mandate.callApi('GET', '/api/v1/orders-archive')`, contract.orders)).toBe(false);
  expect(callsRoutes(`await mandate.callApi('GET', '/api/v1/products')`, contract.orders)).toBe(false);
});
