import { describe, expect, test } from 'vitest';
import { createClient, DecodeError } from '@mandate/client-sdk';
import { createProblemResponse, startStubServer, type SeenRequest, type StubResponse } from '../stub-server.ts';

const pages: Record<string, StubResponse> = {
  first: { body: { data: [{ id: 1 }, { id: 2 }], has_more: true, next_cursor: 'b' } },
  b: { body: { data: [{ id: 3 }, { id: 4 }], has_more: true, next_cursor: 'c' } },
  c: { body: { data: [{ id: 5 }], has_more: false, next_cursor: null } },
};
const cursorOf = ({ url }: SeenRequest): string => new URL(url, 'http://x').searchParams.get('cursor') ?? 'first';
const threePages = () => startStubServer((request) => pages[cursorOf(request)] ?? createProblemResponse(400, 'invalid_cursor'));

describe('a list', () => {
  test('returns its first page when awaited', async () => {
    await using server = await threePages();
    expect(await createClient({ baseUrl: server.url }).products.list()).toEqual(pages['first']?.body);
    expect(server.seen).toHaveLength(1);
  });

  test('iterates over all items, with the same filters on every page', async () => {
    await using server = await threePages();
    const ids: number[] = [];
    for await (const { id } of createClient({ baseUrl: server.url }).products.list({ status: ['active'], limit: 2 })) ids.push(id);
    expect(ids).toEqual([1, 2, 3, 4, 5]);
    expect(server.seen.map(({ url }) => url)).toEqual([
      '/api/v1/products?status=active&limit=2',
      '/api/v1/products?status=active&limit=2&cursor=b',
      '/api/v1/products?status=active&limit=2&cursor=c',
    ]);
  });

  test('fetches a page only when it is needed', async () => {
    await using server = await threePages();
    const items = await createClient({ baseUrl: server.url }).products.list().toArray({ max: 3 });
    expect(items.map(({ id }) => id)).toEqual([1, 2, 3]);
    expect(server.seen).toHaveLength(2);
  });

  test('iterates over pages', async () => {
    await using server = await threePages();
    const sizes: number[] = [];
    for await (const page of createClient({ baseUrl: server.url }).products.list().pages()) sizes.push(page.data.length);
    expect(sizes).toEqual([2, 2, 1]);
  });

  test('fails when a page fails', async () => {
    await using server = await startStubServer((request) =>
      cursorOf(request) === 'b' ? createProblemResponse(400, 'invalid_cursor') : (pages['first'] ?? {}),
    );
    const seen: number[] = [];
    const walk = async (): Promise<void> => {
      for await (const { id } of createClient({ baseUrl: server.url }).products.list()) seen.push(id);
    };
    await expect(walk()).rejects.toMatchObject({ code: 'invalid_cursor' });
    expect(seen).toEqual([1, 2]);
  });

  test('fails if a cursor is repeated', async () => {
    await using server = await startStubServer(() => ({ body: { data: [{ id: 1 }], has_more: true, next_cursor: 'again' } }));
    await expect(createClient({ baseUrl: server.url }).products.list().toArray({ max: 100 })).rejects.toBeInstanceOf(DecodeError);
    expect(server.seen).toHaveLength(2);
  });
});
