import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { rawBody, spoiledBody, type Encoded } from './bodies.ts';
import { callerNames, type CallerName } from './callers.ts';
import type { Operation, Parameter } from './document.ts';
import { headersOf } from './headers.ts';
import { hostileName, hostileText } from './hostile-values.ts';
import { Known } from './placeholders.ts';
import { valueOf } from './schema-values.ts';

/** A request with `Known` things still in it. */
export type FuzzRequest = {
  readonly caller: CallerName;
  readonly method: string;
  /** Pieces between slashes; text goes as it is, already escaped or not. */
  readonly path: readonly (string | Known)[];
  readonly query: readonly (readonly [name: string, value: unknown])[];
  /** What stands behind the query as it is. */
  readonly rawQuery: string;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  readonly raw?: Encoded;
};

type Spoiled = 'nothing' | 'body' | 'query' | 'path' | 'headers' | 'everything';

/** Requests of one operation: nearly half as the document says, the others spoiled in one place or in all. */
export function requestsOf(operation: Operation): Arbitrary<FuzzRequest> {
  const spoiled = fc.oneof(
    ...(
      [
        ['nothing', 12],
        ['body', operation.bodies.length > 0 ? 8 : 0],
        ['query', 3],
        ['path', 2],
        ['headers', 3],
        ['everything', 2],
      ] as const
    ).map(([place, weight]) => ({ weight, arbitrary: fc.constant<Spoiled>(place) })),
  );
  const [asDocumented, withAnyBody] = [bodyOf(operation, false), bodyOf(operation, true)];
  const places = { path: pathOf(operation), query: queryOf(operation), headers: headersOf(operation) };
  return spoiled
    .chain((place) => {
      const isSpoiled = (one: Spoiled): boolean => place === one || place === 'everything';
      return fc.record({
        caller: caller(),
        method: place === 'everything' ? fc.constantFrom(operation.method, ...otherMethods) : fc.constant(operation.method),
        path: places.path(isSpoiled('path')),
        query: places.query(isSpoiled('query')),
        rawQuery: isSpoiled('query') ? rawQuery : fc.constant(''),
        headers: places.headers(isSpoiled('headers')),
        body: isSpoiled('body') ? withAnyBody : asDocumented,
      });
    })
    .map(({ body: { type, ...body }, headers, ...request }) => ({
      ...request,
      ...body,
      // a header that is spoiled stays so
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

function pathOf({ path, parameters }: Operation): (spoil: boolean) => Arbitrary<(string | Known)[]> {
  const pieces = path.slice(1).split('/');
  const good = fc.tuple(
    ...pieces.map((piece) => {
      const parameter = parameters.find(({ name, in: place }) => place === 'path' && `{${name}}` === piece);
      return parameter ? pathValue(parameter) : fc.constant(piece);
    }),
  );
  const bad = good.chain((made) =>
    fc.oneof(
      fc
        .tuple(
          fc.nat({ max: pieces.length - 1 }),
          fc.oneof(
            hostileText.map((text) => escaped(text)),
            fc.constantFrom(...hostilePieces),
          ),
        )
        .map(([at, piece]) =>
          made.with(
            pieces.findLastIndex((one) => one.startsWith('{')) === -1
              ? at
              : Math.max(
                  pieces.findLastIndex((one) => one.startsWith('{')),
                  0,
                ),
            piece,
          ),
        ),
      fc.constantFrom<(string | Known)[]>([...made, ''], ['', ...made], [...made, '..', '..'], [...made, 'unknown']),
    ),
  );
  return (spoil) => (spoil ? bad : good);
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

const pathValue = ({ name, schema }: Parameter): Arbitrary<string | Known> => {
  const known = fc.nat({ max: 1_000 }).map((at) => new Known(name, at));
  return fc.oneof({ weight: 6, arbitrary: known }, { weight: 1, arbitrary: valueOf(schema).map((made) => escaped(String(made))) });
};

/** A lone surrogate has no escape. */
export const escaped = (text: string): string => encodeURIComponent(text.toWellFormed());

type Query = (readonly [string, unknown])[];

function queryOf({ parameters }: Operation): (spoil: boolean) => Arbitrary<Query> {
  const declared = parameters.filter(({ in: place }) => place === 'query');
  const one = declared.map(({ name, schema, required }) =>
    fc
      .tuple(fc.constant(name), valueOf(schema, name), fc.nat({ max: 9 }))
      .map(([key, made, luck]): Query => (required || luck < 2 ? [[key, made]] : [])),
  );
  const good = fc.tuple(...one).map((parts) => parts.flat());
  const name = fc.oneof(hostileName, fc.constantFrom('limit', ...declared.map((parameter) => parameter.name)));
  const bad = fc.array(fc.tuple(name, fc.oneof(hostileText, fc.array(hostileText, { maxLength: 3 }))), { minLength: 1, maxLength: 3 });
  return (spoil) => (spoil ? fc.tuple(good, bad).map(([made, more]): Query => [...made, ...more]) : good);
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

function bodyOf({ bodies }: Operation, spoil: boolean): Arbitrary<Body> {
  if (bodies.length === 0)
    return spoil
      ? fc.oneof(
          fc.constant({}),
          rawBody(fc.constant({})).map((raw) => ({ raw, type: 'application/json' })),
        )
      : fc.constant({});
  return fc.oneof(
    ...bodies.map(({ type, schema, example }): Arbitrary<Body> => {
      if (!type.endsWith('json') || schema['format'] === 'binary') {
        const file = String(example);
        return (spoil ? rawBody(fc.constant(file)) : fc.constant<Encoded>({ text: file })).map((raw) => ({ raw, type }));
      }
      const valid = fc.oneof({ weight: 9, arbitrary: valueOf(schema) }, { weight: 1, arbitrary: fc.constant(example) });
      if (!spoil) return valid.map((json) => ({ json, type }));
      return fc.oneof(
        { weight: 3, arbitrary: spoiledBody(valid).map((json) => ({ json, type })) },
        { weight: 1, arbitrary: rawBody(valid).map((raw) => ({ raw, type })) },
      );
    }),
  );
}
