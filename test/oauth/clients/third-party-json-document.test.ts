import { describe, expect, test } from 'vitest';
import type { FetchedDocument } from '../../../server/outgoing-http/fetch-third-party-document.ts';
import { clampedCacheSecondsFromHeaders, parseFetchedJsonDocument } from '../../../server/outgoing-http/fetch-and-parse-json-document.ts';

const now = new Date('2030-01-01T12:00:00Z');
const [minute, hour] = [60, 3_600];
const httpDate = (seconds: number): string => new Date(now.getTime() + seconds * 1000).toUTCString();
const fetched = (headers: FetchedDocument['headers'], text = '{}', statusCode = 200): FetchedDocument => ({ statusCode, headers, text });

describe('a document of a third party is cached', () => {
  test.each<[string, FetchedDocument['headers'], number]>([
    ['5 minutes without caching headers', {}, 5 * minute],
    ['for max-age', { 'cache-control': 'max-age=600' }, 600],
    ['for max-age after other directives', { 'cache-control': 'public, must-revalidate,MAX-AGE="1200"' }, 1_200],
    ['for max-age, not for the s-maxage of shared caches', { 'cache-control': 's-max-age=7200, max-age=600' }, 600],
    ['at least 5 minutes', { 'cache-control': 'max-age=299' }, 300],
    ['at most 24 hours', { 'cache-control': 'max-age=86401' }, 24 * hour],
    ['for max-age without the time that it was in other caches', { 'cache-control': 'max-age=3600', age: '600' }, 3_000],
    ['for max-age if Age is not a number', { 'cache-control': 'max-age=3600', age: 'x' }, 3_600],
    ['5 minutes with no-store', { 'cache-control': 'max-age=3600, no-store' }, 5 * minute],
    ['5 minutes with no-cache', { 'cache-control': 'No-Cache, max-age=3600' }, 5 * minute],
    ['until Expires, from Date', { expires: httpDate(3 * hour), date: httpDate(hour) }, 2 * hour],
    ['until Expires, from the present time without Date', { expires: httpDate(3 * hour) }, 3 * hour],
    ['for max-age rather than until Expires', { 'cache-control': 'max-age=600', expires: httpDate(3 * hour) }, 600],
    ['5 minutes with Expires in the past', { expires: httpDate(-hour) }, 5 * minute],
    ['5 minutes if Expires is not a date', { expires: '0', date: 'x' }, 5 * minute],
  ])('%s', (_rule, headers, seconds) => {
    expect(clampedCacheSecondsFromHeaders(fetched(headers), now)).toBe(seconds);
  });
});

describe('a response of a third party', () => {
  test.each(['application/json', 'APPLICATION/JSON', 'application/json;charset=utf-8', 'application/json ; x=y', 'application/a.b-c+json'])(
    'with the content type %s is read as JSON',
    (contentType) => {
      expect(parseFetchedJsonDocument(fetched({ 'content-type': contentType }, '{"a":1}'))).toEqual({ a: 1 });
    },
  );

  test.each([
    undefined,
    'text/json',
    'x-application/json',
    'application/json5',
    'application/+json',
    'application/json x',
    'application/a b+json',
  ])('with the content type %s is not used', (contentType) => {
    expect(() => parseFetchedJsonDocument(fetched({ 'content-type': contentType }))).toThrow(
      'the response must have the content type application/json',
    );
  });

  test('with a status other than 200, or with invalid JSON, is not used', () => {
    const json = { 'content-type': 'application/json' };
    expect(() => parseFetchedJsonDocument(fetched(json, '{}', 201))).toThrow('the response has the status 201, not 200');
    expect(() => parseFetchedJsonDocument(fetched(json, '{"a":1'))).toThrow('the document is not JSON');
  });
});
