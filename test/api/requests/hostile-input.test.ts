import { contract, getRouteMetadata, listRoutes, scopeNames } from '@mandate/contract';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { expectHarmlessResponse } from '../../support/network/hostile-inputs.ts';
import { hostileInputsForDatabase as hostileInputs } from '../../support/services/hostile-inputs-for-database.ts';
import { withShop } from '../../support/shop/with-shop.ts';

const shop = withShop({ sampleData: false });
const admin = shop.admin(scopeNames);

const values = [...hostileInputs, 7, -1, 1e300, null, true, {}, [], [[]], ['a\0b'], { a: { b: 1 } }, '2026-13-45T99:99:99Z'];
const fieldsOf = (schema: unknown): string[] => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);

describe.each(listRoutes(contract).map((route) => [getRouteMetadata(route).operationId, route] as const))('%s', (_name, route) => {
  test('handles hostile input without a server error', { timeout: 60_000 }, async () => {
    const send = async (label: string, path: string, init: RequestInit = {}): Promise<void> => {
      const headers = { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json', ...Object(init.headers) };
      await expectHarmlessResponse(
        `${route.method} ${label}`,
        await fetch(shop.origin + path, { ...init, method: route.method, headers, redirect: 'manual' }),
      );
    };
    const validPath = route.path.replaceAll(/:\w+/g, '987654321');
    for (const value of hostileInputs) {
      const name = JSON.stringify(value.slice(0, 20));
      if (validPath !== route.path) await send(`path ${name}`, route.path.replaceAll(/:\w+/g, encodeURIComponent(value)));
      for (const parameter of [...fieldsOf(route.query), 'unknown']) {
        const query = new URLSearchParams({ [parameter]: value }).toString();
        await send(`${parameter}=${name}`, `${validPath}?${query}`);
        await send(`${parameter} twice`, `${validPath}?${query}&${query}&${parameter}[]=x&${parameter}[y]=z`);
      }
    }
    await send('bad escape', `${validPath}?%=%&a=%zz`);
    for (const key of ['a b', 'x'.repeat(5000), '"', ','])
      await send('headers', validPath, { headers: { 'idempotency-key': key, 'if-match': key, 'x-request-id': key } });
    if (!('body' in route)) return;
    for (const field of [...fieldsOf(route.body), 'unknown', '__proto__']) {
      for (const value of values)
        await send(`${field}=${JSON.stringify(value).slice(0, 20)}`, validPath, {
          body: `{${JSON.stringify(field)}:${JSON.stringify(value)}}`,
        });
    }
    for (const body of ['', '{', '[]', 'null', '"x"', '7', '{"name":"\\ud800"}', `[${'['.repeat(5000)}`])
      await send(body.slice(0, 10), validPath, { body });
    expect(route.path).toContain('/api/');
  });
});
