import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { Operation } from './document.ts';
import { hostileText } from './hostile-values.ts';
import { Known } from './placeholders.ts';

/** Headers that an operation declares, and when they are to be spoiled some that mean something to servers. */
export function headersOf({ parameters }: Operation): (spoil: boolean) => Arbitrary<Record<string, unknown>> {
  const declared = parameters.filter(({ in: place }) => place === 'header').map(({ name }) => name.toLowerCase());
  const sensible: Record<string, Arbitrary<unknown>> = {
    'if-match': fc.oneof(
      fc.nat().map((at) => new Known('etag', at)),
      fc.constantFrom('*', '"1"', '"2"'),
    ),
    'if-none-match': fc.oneof(
      fc.nat().map((at) => new Known('etag', at)),
      fc.constantFrom('*', '"1", "2"', 'W/"1"'),
    ),
    // few, so that some come again, with the same request or another
    'idempotency-key': fc.oneof(
      fc.stringMatching(/^[A-Za-z0-9_.:-]{20,40}$/),
      fc.nat({ max: 30 }).map((key) => `again-${key}`),
    ),
  };
  const good = fc.record(Object.fromEntries(declared.flatMap((name) => (sensible[name] ? [[name, sensible[name]]] : []))), {
    requiredKeys: [],
    noNullPrototype: true,
  });
  const name = fc.constantFrom(...hostileHeaders, ...declared);
  const bad = fc.dictionary(name, fc.oneof(headerText, fc.constantFrom(...headerValues)), {
    minKeys: 1,
    maxKeys: 3,
    noNullPrototype: true,
  });
  return (spoil) => (spoil ? fc.tuple(good, bad).map(([made, more]) => ({ ...made, ...more })) : good);
}

const hostileHeaders = [
  'accept',
  'accept-language',
  'accept-encoding',
  'authorization',
  'content-type',
  'content-encoding',
  'cookie',
  'date',
  'dpop',
  'expect',
  'forwarded',
  'from',
  'if-match',
  'if-none-match',
  'if-modified-since',
  'if-unmodified-since',
  'idempotency-key',
  'origin',
  'prefer',
  'range',
  'referer',
  'te',
  'traceparent',
  'upgrade',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-http-method-override',
  'x-original-url',
  'x-request-id',
];
const headerValues = [
  '*/*',
  'application/json',
  'application/json;q=0',
  'text/html',
  'text/csv',
  '*/*;q=2',
  'application/json; charset=utf-16',
  'application/json; charset="',
  'multipart/form-data',
  'gzip',
  'br',
  'deflate',
  'gzip, gzip, br',
  'identity;q=0',
  '100-continue',
  'bytes=0-1',
  'bytes=-1,5-',
  'Bearer',
  'Bearer a b',
  'Basic Og==',
  'DPoP x',
  '*',
  '"',
  '""',
  'W/"',
  '"1","2",',
  'http://localhost',
  'null',
  '127.0.0.1',
  '::1, unknown',
  'for="[::1]:1"',
  'websocket',
  'DELETE',
  '00-x-y-z',
  'Thu, 01 Jan 1970 00:00:00 GMT',
];
/** What a header may carry on the wire at all. */
const headerText = hostileText.map((text) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/gu, '?').slice(0, 6_000));
