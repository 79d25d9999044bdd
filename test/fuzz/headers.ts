import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { Operation } from './openapi-operations.ts';
import { hostileText } from './hostile-values.ts';
import { Placeholder } from './placeholders.ts';

/** Generates declared headers and, if `makeInvalid` is true, additional headers that are often invalid or hostile. */
export function headerArbitrary({ parameters }: Operation): (makeInvalid: boolean) => Arbitrary<Record<string, unknown>> {
  const declared = parameters.filter(({ in: place }) => place === 'header').map(({ name }) => name.toLowerCase());
  const usefulValuesByName: Record<string, Arbitrary<unknown>> = {
    'if-match': fc.oneof(
      fc.nat().map((at) => new Placeholder('etag', at)),
      fc.constantFrom('*', '"1"', '"2"'),
    ),
    'if-none-match': fc.oneof(
      fc.nat().map((at) => new Placeholder('etag', at)),
      fc.constantFrom('*', '"1", "2"', 'W/"1"'),
    ),
    // there are few distinct keys, so that some are reused with the same or a different request
    'idempotency-key': fc.oneof(
      fc.stringMatching(/^[A-Za-z0-9_.:-]{20,40}$/),
      fc.nat({ max: 30 }).map((key) => `again-${key}`),
    ),
  };
  const valid = fc.record(
    Object.fromEntries(declared.flatMap((name) => (usefulValuesByName[name] ? [[name, usefulValuesByName[name]]] : []))),
    {
      requiredKeys: [],
      noNullPrototype: true,
    },
  );
  const name = fc.constantFrom(...hostileHeaders, ...declared);
  const invalid = fc.dictionary(name, fc.oneof(headerText, fc.constantFrom(...headerValues)), {
    minKeys: 1,
    maxKeys: 3,
    noNullPrototype: true,
  });
  return (makeInvalid) => (makeInvalid ? fc.tuple(valid, invalid).map(([generated, more]) => ({ ...generated, ...more })) : valid);
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
/** Text that can be sent in a header. */
const headerText = hostileText.map((text) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/gu, '?').slice(0, 6_000));
