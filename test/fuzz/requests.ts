import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { rawBody, invalidBody, type EncodedBody } from './bodies.ts';
import { callerNames, type CallerName } from './callers.ts';
import type { Operation, Parameter } from './openapi-operations.ts';
import { headerArbitrary } from './headers.ts';
import { hostileName, hostileText } from './hostile-values.ts';
import { Placeholder } from './placeholders.ts';
import { valueArbitrary } from './schema-values.ts';

/** A generated request that may contain placeholders. */
export type FuzzRequest = {
  readonly caller: CallerName;
  readonly method: string;
  /** Path segments. Text is sent unchanged, whether or not it is escaped. */
  readonly path: readonly (string | Placeholder)[];
  readonly query: readonly (readonly [name: string, value: unknown])[];
  /** Text that is appended to the query unchanged. */
  readonly rawQuery: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly raw?: EncodedBody;
};

type InvalidPart = 'nothing' | 'body' | 'query' | 'path' | 'headers' | 'everything';

/** Generates requests for one operation. Nearly half of the requests are valid; the others are invalid in one part or in all parts. */
export function requestArbitrary(operation: Operation): Arbitrary<FuzzRequest> {
  const invalidPart = fc.oneof(
    ...(
      [
        ['nothing', 12],
        ['body', operation.bodies.length > 0 ? 8 : 0],
        ['query', 3],
        ['path', 2],
        ['headers', 3],
        ['everything', 2],
      ] as const
    ).map(([place, weight]) => ({ weight, arbitrary: fc.constant<InvalidPart>(place) })),
  );
  const [validBody, anyInvalidBody] = [bodyArbitrary(operation, false), bodyArbitrary(operation, true)];
  const places = { path: pathArbitrary(operation), query: queryArbitrary(operation), headers: headerArbitrary(operation) };
  return invalidPart
    .chain((place) => {
      const isInvalid = (one: InvalidPart): boolean => place === one || place === 'everything';
      return fc.record({
        caller: caller(),
        method: place === 'everything' ? fc.constantFrom(operation.method, ...otherMethods) : fc.constant(operation.method),
        path: places.path(isInvalid('path')),
        query: places.query(isInvalid('query')),
        rawQuery: isInvalid('query') ? rawQuery : fc.constant(''),
        headers: places.headers(isInvalid('headers')),
        body: isInvalid('body') ? anyInvalidBody : validBody,
      });
    })
    .map(({ body: { type, ...body }, headers, ...request }) => ({
      ...request,
      ...body,
      // a generated `Content-Type` header replaces the body's content type
      headers: { ...(type !== undefined && { 'content-type': type }), ...headers },
    }));
}

const otherMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

const caller = (): Arbitrary<CallerName> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant<CallerName>('administrator') },
    { weight: 4, arbitrary: fc.constant<CallerName>('customer') },
    { weight: 6, arbitrary: fc.constantFrom(...callerNames) },
  );

function pathArbitrary({ path, parameters }: Operation): (makeInvalid: boolean) => Arbitrary<(string | Placeholder)[]> {
  const pieces = path.slice(1).split('/');
  const valid = fc.tuple(
    ...pieces.map((piece) => {
      const parameter = parameters.find(({ name, in: place }) => place === 'path' && `{${name}}` === piece);
      return parameter ? pathValue(parameter) : fc.constant(piece);
    }),
  );
  const invalid = valid.chain((generated) =>
    fc.oneof(
      fc
        .tuple(
          fc.nat({ max: pieces.length - 1 }),
          fc.oneof(
            hostileText.map((text) => escapeUrlText(text)),
            fc.constantFrom(...hostilePieces),
          ),
        )
        .map(([at, piece]) =>
          generated.with(
            pieces.findLastIndex((one) => one.startsWith('{')) === -1
              ? at
              : Math.max(
                  pieces.findLastIndex((one) => one.startsWith('{')),
                  0,
                ),
            piece,
          ),
        ),
      fc.constantFrom<(string | Placeholder)[]>(
        [...generated, ''],
        ['', ...generated],
        [...generated, '..', '..'],
        [...generated, 'unknown'],
      ),
    ),
  );
  return (makeInvalid) => (makeInvalid ? invalid : valid);
}

const hostilePieces = [
  '..',
  '.',
  '%2e%2e',
  '%00',
  '%',
  '%zz',
  '%c0%af',
  ';x=1',
  '0',
  '-1',
  '1e3',
  '1.0',
  '+1',
  '0x1',
  '%31',
  '1%20',
  '9007199254740992',
  '1,2',
  '*',
  '{order_id}',
  '1.json',
  'me',
  'null',
];

const pathValue = ({ name, schema }: Parameter): Arbitrary<string | Placeholder> => {
  const known = fc.nat({ max: 1_000 }).map((at) => new Placeholder(name, at));
  return fc.oneof(
    { weight: 6, arbitrary: known },
    { weight: 1, arbitrary: valueArbitrary(schema).map((generated) => escapeUrlText(String(generated))) },
  );
};

/** Escapes text for URLs. `encodeURIComponent` rejects lone surrogates. */
export const escapeUrlText = (text: string): string => encodeURIComponent(text.toWellFormed());

type Query = (readonly [string, unknown])[];

function queryArbitrary({ parameters }: Operation): (makeInvalid: boolean) => Arbitrary<Query> {
  const declared = parameters.filter(({ in: place }) => place === 'query');
  const one = declared.map(({ name, schema, required }) =>
    fc
      .tuple(fc.constant(name), valueArbitrary(schema, name), fc.nat({ max: 9 }))
      .map(([key, generated, probability]): Query => (required || probability < 2 ? [[key, generated]] : [])),
  );
  const valid = fc.tuple(...one).map((parts) => parts.flat());
  const name = fc.oneof(hostileName, fc.constantFrom('limit', ...declared.map((parameter) => parameter.name)));
  const invalid = fc.array(fc.tuple(name, fc.oneof(hostileText, fc.array(hostileText, { maxLength: 3 }))), { minLength: 1, maxLength: 3 });
  return (makeInvalid) => (makeInvalid ? fc.tuple(valid, invalid).map(([generated, more]): Query => [...generated, ...more]) : valid);
}

const rawQuery = fc.oneof(
  fc.constant(''),
  fc.constantFrom(
    '%',
    '%zz=%zz',
    'limit[]=1',
    'limit[x]=1',
    'limit=1&limit=2',
    'limit',
    '=',
    '&&&',
    '?',
    'a=%00',
    'limit=%31',
    'limit=1;cursor=2',
    'sort=+',
    `x=${'y'.repeat(7_000)}`,
  ),
);

type Body = Pick<FuzzRequest, 'json' | 'raw'> & { readonly type?: string };

function bodyArbitrary({ bodies }: Operation, makeInvalid: boolean): Arbitrary<Body> {
  if (bodies.length === 0)
    return makeInvalid
      ? fc.oneof(
          fc.constant({}),
          rawBody(fc.constant({})).map((raw) => ({ raw, type: 'application/json' })),
        )
      : fc.constant({});
  return fc.oneof(
    ...bodies.map(({ type, schema, example }): Arbitrary<Body> => {
      if (!type.endsWith('json') || schema['format'] === 'binary') {
        const file = String(example);
        return (makeInvalid ? rawBody(fc.constant(file)) : fc.constant<EncodedBody>({ text: file })).map((raw) => ({ raw, type }));
      }
      const valid = fc.oneof({ weight: 9, arbitrary: valueArbitrary(schema) }, { weight: 1, arbitrary: fc.constant(example) });
      if (!makeInvalid) return valid.map((json) => ({ json, type }));
      return fc.oneof(
        { weight: 3, arbitrary: invalidBody(valid).map((json) => ({ json, type })) },
        { weight: 1, arbitrary: rawBody(valid).map((raw) => ({ raw, type })) },
      );
    }),
  );
}
