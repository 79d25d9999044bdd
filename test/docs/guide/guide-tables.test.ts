import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { contract, eventTypes, getRouteMetadata, listRoutes } from '@mandate/contract';
import { expect, test } from 'vitest';
import { repositoryRoot } from '../../support/markdown.ts';
import { filesWithTables, formatDuration, replaceGuideTables } from './guide-tables.ts';
import { findPossibleTransitions, orderTransitions } from './order-transitions.ts';

test.each(filesWithTables)('the tables in %s are up to date with `npm run guide`', async (file) => {
  const text = await readFile(join(repositoryRoot, file), 'utf8');
  expect(text).toBe(replaceGuideTables(file, text));
});

test('the documented order transitions are those that the server allows, with existing operations and events', () => {
  const documented = orderTransitions.filter(({ from }) => from !== 'new').map(({ from, to }) => `${from} ${to}`);
  expect(documented.toSorted()).toEqual(findPossibleTransitions());
  const operations: string[] = listRoutes(contract).map((route) => getRouteMetadata(route).operationId);
  expect(orderTransitions.flatMap((one) => one.operations).filter((operation) => !operations.includes(operation))).toEqual([]);
  const events: readonly string[] = eventTypes;
  expect(orderTransitions.map(({ event }) => event).filter((event) => !events.includes(event))).toEqual([]);
});

test('durations have the largest unit without a fraction, except for one day', () => {
  expect([1, 30, 60, 90, 300, 3_600, 86_400, 90 * 86_400].map(formatDuration)).toEqual([
    '1 second',
    '30 seconds',
    '1 minute',
    '90 seconds',
    '5 minutes',
    '1 hour',
    '24 hours',
    '90 days',
  ]);
});
