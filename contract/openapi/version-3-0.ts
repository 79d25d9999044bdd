import { isJson, type Json, type JsonValue } from '../schema/json.ts';

/**
 * The same document in OpenAPI 3.0, for generators that do not support 3.1: `null` becomes `nullable`, and `const` an enumeration with
 * one value. 3.0 has no webhooks, so their section and its parameters are left out.
 */
export function asOpenApi30(document: Json): Json {
  const { openapi: _, info, webhooks: _webhooks, components, ...rest } = document;
  if (!isJson(info) || !isJson(components)) throw new Error('a document has info and components');
  const { parameters: _parameters, ...restOfComponents } = components;
  const { summary: __, license: ___, ...restOfInfo } = info;
  return {
    openapi: '3.0.3',
    info: { ...restOfInfo, license: { name: 'MIT', url: 'https://opensource.org/license/mit' } },
    ...downgradeAll({ ...rest, components: restOfComponents }),
  };
}

/** Examples are what callers send and get, whatever their fields are called. */
const verbatim = new Set(['example', 'examples', 'x-codeSamples']);

const downgradeAll = (node: Json): Json =>
  Object.fromEntries(Object.entries(node).map(([key, value]) => [key, verbatim.has(key) ? value : downgrade(value)]));

function downgrade(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(downgrade);
  if (!isJson(value)) return value;
  const { type, const: constant, $ref, ...rest } = downgradeAll(value);
  if ($ref !== undefined) return Object.keys(rest).length === 0 ? { $ref } : { allOf: [{ $ref }], ...rest };
  return {
    ...(Array.isArray(type) ? typeAmong(type) : type !== undefined && { type }),
    ...(isWide(value) && { format: 'int64' }),
    ...(constant !== undefined && { enum: [constant] }),
    ...rest,
  };
}

function typeAmong(types: JsonValue[]): Json {
  const type = types.find((name) => name !== 'null') ?? 'object';
  return types.includes('null') ? { type, nullable: true } : { type };
}

/** What does not fit into 32 bits: generators take an integer for one of these where nothing is said. */
const isWide = ({ type, maximum }: Json): boolean =>
  [type].flat().includes('integer') && typeof maximum === 'number' && maximum > 2 ** 31 - 1;
