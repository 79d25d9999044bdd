import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createClient, scopesOf } from '@mandate/client-sdk';
import { contract, getRouteMetadata, listRoutes } from '@mandate/contract';
import { expandRouteTable as listClientRoutes } from '../../../client-sdk/core/route-table.ts';
import { routes } from '../../../client-sdk/generated/routes.gen.ts';
import { renderCommittedGeneratedFiles } from '../../../client-sdk/codegen/generate-committed-files.ts';
import { renderTypesFiles } from '../../../client-sdk/codegen/render-types-files.ts';
import { formatSource } from '../../support/format-source.ts';

test('the generated files are up to date with the contract', { timeout: 60_000 }, async () => {
  const committed = Object.entries(renderCommittedGeneratedFiles()).map(
    async ([name, source]) => [`generated/${name}`, await formatSource(source)] as const,
  );
  const types = Object.entries(await renderTypesFiles()).map(([name, source]) => [`schema/${name}`, source] as const);
  for (const [path, source] of [...(await Promise.all(committed)), ...types]) {
    expect(await readFile(new URL(`../../../client-sdk/${path}`, import.meta.url), 'utf8'), path).toBe(source);
  }
});

const forClients = listRoutes(contract).filter((route) => !getRouteMetadata(route).internal);

test('every route of the contract is a method of the client, in addition to tasks.wait', () => {
  const { request: _, ...resources } = createClient({ baseUrl: 'https://shop.example' });
  const methods = Object.entries(resources).flatMap(([resource, members]) => Object.keys(members).map((name) => `${resource}.${name}`));
  const operationIds = forClients.map((route) => getRouteMetadata(route).operationId);
  expect(methods.toSorted()).toEqual([...operationIds, 'tasks.wait'].toSorted());
});

test.each(forClients.map((route) => [getRouteMetadata(route).operationId, route] as const))(
  '%s agrees with its route in the contract',
  (operationId, route) => {
    const { access, idempotent = false } = getRouteMetadata(route);
    const clientRoute = listClientRoutes(routes).find(({ operation }) => operation === operationId);
    expect([clientRoute?.method, clientRoute?.path]).toEqual([route.method, route.path.replaceAll(/:\w+/g, '{}')]);
    expect(clientRoute?.method === 'POST').toBe(idempotent);
    expect(new Map<string, readonly string[]>(Object.entries(scopesOf)).get(operationId)).toEqual(typeof access === 'string' ? [] : access);
  },
);
