/**
 * Tests API versions, and the deprecation of versions and operations. The deprecated operations are fictitious, because version 1 has none.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { initContract } from '@ts-rest/core';
import { type ApiVersion, apiVersions, contract, type Deprecation, getRouteMetadata, listRoutes } from '@mandate/contract';
import express, { type Response, Router } from 'express';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { declareRouteMetadata } from '../../../contract/protocol/route-metadata.ts';
import { addDeprecationHeadersOrRejectRetired } from '../../../server/http/middleware/deprecation-headers-and-retirement.ts';
import { createApiErrorHandler } from '../../../server/http/middleware/api-error-handler.ts';
import { assignRequestIdAndLogAccess } from '../../../server/http/request/request-context-principal-and-access-log.ts';
import { mountContract } from '../../../server/http/routing/mount-contract.ts';
import { createLogger } from '../../../server/logging/logger.ts';
import { versionResponseFromApiVersion } from '../../../server/api-versions/routes.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop({ sampleData: false });

describe('the Mandate-Version header', () => {
  test.each([
    ['/api/v1/products', 'v1'],
    ['/api/products', 'v1'],
    ['/api/v1/nothing', 'v1'],
    ['/api/orders', 'v1'],
    ['/api/v9/products', null],
    ['/api', null],
  ])('of %s is %s', async (path, version) => {
    const { headers } = await shop.callApi('GET', path);
    expect(headers.get('mandate-version')).toBe(version);
  });

  test('can be read by pages of other origins', async () => {
    const { headers } = await shop.callApi('GET', '/api/products');
    expect(headers.get('access-control-expose-headers')).toContain('Mandate-Version');
  });

  test('a path without a version is routed to the current version', async () => {
    const [plain, versioned] = [await shop.callApi('GET', '/api/products?limit=1'), await shop.callApi('GET', '/api/v1/products?limit=1')];
    expect(plain.body).toEqual(versioned.body);
    expect((await shop.callApi('POST', '/api/orders', { body: {} })).status).toBe(401);
  });
});

describe('GET /api', () => {
  test('lists the versions without a token', async () => {
    const { status, body } = await shop.callApi('GET', '/api');
    expect([status, body]).toEqual([
      200,
      { data: [{ version: 'v1', status: 'current', deprecated_at: null, sunset_at: null }], has_more: false, next_cursor: null },
    ]);
  });

  test('returns 404 with a trailing slash or a version, and 405 for other methods', async () => {
    for (const path of ['/api/', '/api/v1', '/api/v9']) expect((await shop.callApi('GET', path)).body.code).toBe('route_not_found');
    const { status, headers } = await shop.callApi('DELETE', '/api');
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  test('returns the status of each version at the given time', () => {
    const deprecated = { since: '2027-01-01T00:00:00Z', sunset: '2028-01-01T00:00:00Z', guide: '/docs' };
    const statusesAt = (now: string, versions: readonly ApiVersion[]): string[] =>
      versions.map((version) => versionResponseFromApiVersion(version, new Date(now)).status);
    const versions: readonly ApiVersion[] = [{ name: 'v0', deprecated }, { name: 'v1' }, { name: 'v3' }, { name: 'v4', preview: true }];
    expect(statusesAt('2026-12-31T23:59:59Z', versions)).toEqual(['supported', 'current', 'supported', 'preview']);
    expect(statusesAt('2027-01-01T00:00:00Z', versions)).toEqual(['deprecated', 'current', 'supported', 'preview']);
    expect(statusesAt('2028-01-01T00:00:00Z', versions)).toEqual(['retired', 'current', 'supported', 'preview']);
  });

  test('a deprecation lasts at least a year', () => {
    const yearMs = 365 * 24 * 60 * 60 * 1000;
    const deprecations = [...apiVersions, ...listRoutes(contract).map(getRouteMetadata)].flatMap(({ deprecated }) => deprecated ?? []);
    const tooShort = deprecations.filter(({ since, sunset }) => sunset !== undefined && Date.parse(sunset) < Date.parse(since) + yearMs);
    expect(tooShort).toEqual([]);
  });
});

describe('a deprecated operation', () => {
  const ending: Deprecation = { since: '2027-01-01T00:00:00Z', sunset: '2028-01-01T12:30:00Z', guide: 'https://shop.example/docs/things' };
  const v0: Deprecation = { since: '2026-06-01T00:00:00Z', sunset: '2028-06-01T00:00:00Z', guide: '/docs/v1' };
  const createRoute = (operationId: string, path: string, deprecated?: Deprecation) => ({
    method: 'GET' as const,
    path,
    responses: { 200: z.object({}) },
    metadata: declareRouteMetadata({ operationId, access: 'public', ...(deprecated && { deprecated }) }),
  });
  const fixture = initContract().router({
    things: createRoute('things.list', '/api/v1/things'),
    ending: createRoute('things.ending', '/api/v1/ending', ending),
    open: createRoute('things.open', '/api/v1/open', { since: ending.since, guide: '/docs' }),
    old: createRoute('things.old', '/api/v0/things'),
    oldEnding: createRoute('things.oldEnding', '/api/v0/ending', ending),
  });
  let now = new Date(0);
  const server = createServer();
  let origin: string;

  const respond = async ({ res }: { res: Response }) => {
    res.append('Link', '</things?cursor=2>; rel="next"');
    return { status: 200 as const, body: {} };
  };

  beforeAll(async () => {
    const [app, router] = [express(), Router()];
    const announce = addDeprecationHeadersOrRejectRetired([{ name: 'v0', deprecated: v0 }, { name: 'v1' }], () => now);
    mountContract(router, fixture, { things: respond, ending: respond, open: respond, old: respond, oldEnding: respond }, [announce]);
    app.use(assignRequestIdAndLogAccess(createLogger(false)), router, createApiErrorHandler('https://shop.example', createLogger(false)));
    server.on('request', app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  });
  afterAll(() => void server.close());

  const fetchAt = async (time: string, path: string) => {
    now = new Date(time);
    const { status, headers } = await fetch(`${origin}${path}`);
    const [deprecation, sunset, link] = ['deprecation', 'sunset', 'link'].map((name) => headers.get(name));
    return { status, deprecation, sunset, link };
  };

  test('returns Deprecation, Sunset and documentation links, in addition to other links', async () => {
    expect(await fetchAt('2027-06-01T00:00:00Z', '/api/v1/ending')).toMatchObject({
      status: 200,
      deprecation: '@1798761600',
      sunset: 'Sat, 01 Jan 2028 12:30:00 GMT',
      link: '<https://shop.example/docs/things>; rel="deprecation"; type="text/html", <https://shop.example/docs/things>; rel="sunset"; type="text/html", </things?cursor=2>; rel="next"',
    });
  });

  test('has no Sunset header without an end date', async () => {
    expect(await fetchAt('2099-01-01T00:00:00Z', '/api/v1/open')).toMatchObject({
      status: 200,
      deprecation: '@1798761600',
      sunset: null,
      link: '</docs>; rel="deprecation"; type="text/html", </things?cursor=2>; rel="next"',
    });
  });

  test('other operations have no deprecation headers', async () => {
    expect(await fetchAt('2099-01-01T00:00:00Z', '/api/v1/things')).toMatchObject({
      status: 200,
      deprecation: null,
      sunset: null,
      link: '</things?cursor=2>; rel="next"',
    });
  });

  test('all operations of a deprecated version are deprecated, with the earlier sunset', async () => {
    expect(await fetchAt('2027-06-01T00:00:00Z', '/api/v0/things')).toMatchObject({
      deprecation: '@1780272000',
      sunset: 'Thu, 01 Jun 2028 00:00:00 GMT',
    });
    expect(await fetchAt('2027-06-01T00:00:00Z', '/api/v0/ending')).toMatchObject({
      deprecation: '@1780272000',
      sunset: 'Sat, 01 Jan 2028 12:30:00 GMT',
    });
  });

  test('returns 410 from its sunset on', async () => {
    expect((await fetchAt('2028-01-01T12:29:59.999Z', '/api/v1/ending')).status).toBe(200);
    now = new Date('2028-01-01T12:30:00Z');
    const response = await fetch(`${origin}/api/v1/ending`);
    expect([response.status, response.headers.get('content-type'), await response.json()]).toEqual([
      410,
      'application/problem+json',
      expect.objectContaining({
        code: 'version_retired',
        detail: 'Support ended on 2028-01-01. Migration guide: https://shop.example/docs/things',
      }),
    ]);
    expect([response.headers.get('deprecation'), response.headers.get('sunset')]).toEqual(['@1798761600', 'Sat, 01 Jan 2028 12:30:00 GMT']);
    expect((await fetchAt('2028-06-01T00:00:00Z', '/api/v0/things')).status).toBe(410);
  });
});
