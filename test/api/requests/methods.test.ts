/** Calls every path in the contract with every method. */
import { contract, contractV2, listRoutes } from '@mandate/contract';
import { expect, test } from 'vitest';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop({ sampleData: false, previewVersions: true });

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const paths = [...Map.groupBy([...listRoutes(contract), ...listRoutes(contractV2)], ({ path }) => path)].map(
  ([path, routes]) =>
    [
      path,
      new Set([
        ...routes.map(({ method }): string => method),
        'OPTIONS',
        ...(routes.some(({ method }) => method === 'GET') ? ['HEAD'] : []),
      ]),
    ] as const,
);

test.each(paths)('%s: 405 with Allow for every other method', async (path, allowed) => {
  const url = shop.origin + path.replaceAll(/:\w+/g, '1');
  const allowOf = ({ headers }: Response): string[] => (headers.get('allow') ?? '').split(', ').toSorted();
  for (const method of methods.filter((each) => !allowed.has(each))) {
    const response = await fetch(url, { method });
    expect([response.status, allowOf(response)], method).toEqual([405, [...allowed].toSorted()]);
  }
  const options = await fetch(url, { method: 'OPTIONS' });
  expect([options.status, allowOf(options)]).toEqual([204, [...allowed].toSorted()]);
});

test('/users/me rejects changes with 405', async () => {
  for (const path of ['/api/v1/users/me', '/api/users/me', '/api/v2/users/me'])
    for (const method of ['PATCH', 'DELETE', 'PUT', 'POST']) {
      const { status, body, headers } = await shop.callApi(method, path, method === 'DELETE' ? {} : { body: {} });
      expect([status, body.code, headers.get('allow')]).toEqual([405, 'method_not_allowed', 'GET, HEAD, OPTIONS']);
    }
});
