/** Checks the rules for lists and single resources for every contract operation. The failure message names the operation. */
import type { AppRoute } from '@ts-rest/core';
import { contract, contractV2, listRoutes } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { findMissingCollections, findUnpaginatedLists, findUnreadableEtags } from '../support/contract/collection-rules.ts';

const versions = [
  ['v1', listRoutes(contract)],
  ['v2', listRoutes(contractV2)],
] as const;

const without = (name: string, change: (route: AppRoute) => AppRoute[]): AppRoute[] =>
  listRoutes(contract).flatMap((route) => (`${route.method} ${route.path}` === `GET /api/v1/${name}` ? change(route) : [route]));

describe('every list is paginated', () => {
  test.each(versions)('in %s', (_, routes) => {
    expect(findUnpaginatedLists(routes)).toEqual([]);
  });
  test('and a list without pagination is found', () => {
    expect(findUnpaginatedLists(without('delivery-methods', (route) => [{ ...route, query: null }]))).toEqual(['deliveryMethods.list']);
  });
});

describe('every resource that accepts If-Match can be read on its own', () => {
  test.each(versions)('in %s', (_, routes) => {
    expect(findUnreadableEtags(routes)).toEqual([]);
  });
  test('and a resource that cannot be read is found', () => {
    expect(findUnreadableEtags(without('shipments/:shipment_id', () => []))).toEqual(['shipments.update']);
  });
});

describe('every resource that can be read on its own has a collection', () => {
  test.each(versions)('in %s', (_, routes) => {
    expect(findMissingCollections(routes)).toEqual([]);
  });
  test('and a resource without a collection is found', () => {
    expect(findMissingCollections(without('payments', () => []))).toEqual(['payments.get']);
  });
});
