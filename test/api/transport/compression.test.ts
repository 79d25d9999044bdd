/** Tests compression, `Vary` headers and ETags for every contract path, page and document. */
import { contract, listRoutes } from '@mandate/contract';
import { beforeAll, expect, test } from 'vitest';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop({ previewVersions: true });
beforeAll(async () => {
  await shop.createProduct();
});

const documents = ['/openapi.json', '/openapi-3.0.json', '/openapi-v2.json'];
const pages = ['/', '/docs', '/sign-in', '/problems', '/robots.txt', '/favicon.ico', '/nothing', '/.well-known/openid-configuration'];
const operations = listRoutes(contract).flatMap(({ method, path }) => (method === 'GET' ? [path.replaceAll(/:\w+/g, '1')] : []));

const get = (path: string, encoding: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(shop.origin + path, { headers: { 'accept-encoding': encoding, ...headers }, redirect: 'manual' });

const variesByEncoding = ({ headers }: Response): boolean => (headers.get('vary') ?? '').toLowerCase().includes('accept-encoding');

test.each([...documents, ...pages, ...operations])('%s lists Accept-Encoding in Vary if and only if it is compressed', async (path) => {
  const query = path === '/api/v1/events' ? '?wait=0' : '';
  for (const headers of [{}, { authorization: `Bearer ${shop.token}` }]) {
    const [plain, gzipped] = [await get(path + query, 'identity', headers), await get(path + query, 'gzip', headers)];
    const compressed = gzipped.headers.get('content-encoding') === 'gzip';
    expect(plain.headers.get('content-encoding')).toBeNull();
    // even the uncompressed response must list `Accept-Encoding`, because a cache could return this response to other clients
    expect([variesByEncoding(plain), variesByEncoding(gzipped)]).toEqual([compressed, compressed]);
    await Promise.all([plain.arrayBuffer(), gzipped.arrayBuffer()]);
  }
});

test('the assets of the API reference are compressed', async () => {
  const text = await (await get('/docs', 'identity')).text();
  const paths = Array.from(text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g), ([, path = '']) => path);
  for (const path of paths) {
    const [plain, gzipped] = [await get(path, 'identity'), await get(path, 'gzip')];
    expect([gzipped.headers.get('content-encoding'), variesByEncoding(plain), variesByEncoding(gzipped)]).toEqual(['gzip', true, true]);
    expect(await gzipped.text()).toBe(await plain.text());
  }
});

test.each(documents)('%s is compressed, and can be cached and revalidated', async (path) => {
  const [plain, gzipped] = [await get(path, 'identity'), await get(path, 'gzip, br')];
  const text = await plain.text();
  expect(gzipped.headers.get('content-encoding')).toBe('gzip');
  expect(Number(gzipped.headers.get('content-length'))).toBeLessThan(text.length / 8);
  expect(await gzipped.text()).toBe(text);
  const etags = [plain, gzipped].map(({ headers }) => headers.get('etag') ?? '');
  expect(new Set(etags).size).toBe(2);
  for (const [at, encoding] of ['identity', 'gzip'].entries()) {
    const etag = etags[at] ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    for (const knownEtag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const fresh = await get(path, encoding, { 'if-none-match': knownEtag });
      expect([fresh.status, fresh.headers.get('etag'), await fresh.text()]).toEqual([304, etag, '']);
      expect([fresh.headers.get('cache-control'), fresh.headers.get('vary')]).toEqual(['public, max-age=300', 'Accept-Encoding']);
    }
    expect((await get(path, encoding, { 'if-none-match': '"other"' })).status).toBe(200);
  }
});

test.each([
  ['gzip;q=0', null],
  ['br', null],
  ['*', 'gzip'],
  ['gzip;q=0.5, identity', null],
])('a client that accepts %s can read the response', async (accepted, encoding) => {
  const response = await get('/openapi.json', accepted);
  expect(response.headers.get('content-encoding')).toBe(encoding);
  expect(JSON.parse(await response.text())).toHaveProperty('openapi');
});
