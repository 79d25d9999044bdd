import { isJsonObject, type JsonObject, type JsonValue } from '../schema/json.ts';

/**
 * Converts a document to OpenAPI 3.0, for generators that do not support 3.1: `null` becomes `nullable`, and `const` becomes an enumeration
 * with one value. Webhooks and their parameters are omitted, because OpenAPI 3.0 does not support webhooks.
 */
export function convertToOpenApi30(document: JsonObject): JsonObject {
  const { openapi: _, info, webhooks: _webhooks, components, tags, ...rest } = document;
  if (!isJsonObject(info) || !isJsonObject(components)) throw new Error('the document has no info or no components');
  const { parameters: _parameters, ...restOfComponents } = components;
  const { summary: __, license: ___, ...restOfInfo } = info;
  return {
    openapi: '3.0.3',
    info: { ...restOfInfo, license: { name: 'MIT', url: 'https://opensource.org/license/mit' } },
    ...downgradeAll({ ...rest, tags: tagsOfOperations(tags, rest['paths']), components: restOfComponents }),
  };
}

function tagsOfOperations(tags: JsonValue | undefined, paths: JsonValue | undefined): JsonValue[] {
  const used = new Set(
    listValues(paths)
      .flatMap(listValues)
      .flatMap((operation) => (isJsonObject(operation) ? operation['tags'] : [])),
  );
  return Array.isArray(tags) ? tags.filter((tag) => isJsonObject(tag) && used.has(tag['name'])) : [];
}

const listValues = (value: JsonValue | undefined): JsonValue[] => (isJsonObject(value) ? Object.values(value) : []);

/** Keys whose values are copied unchanged, because example fields can have the same names as schema keywords. */
const verbatim = new Set(['example', 'examples', 'x-codeSamples']);

const downgradeAll = (node: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(node).map(([key, value]) => [key, verbatim.has(key) ? value : downgrade(value)]));

function downgrade(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(downgrade);
  if (!isJsonObject(value)) return value;
  const { type, const: constant, $ref, ...rest } = downgradeAll(value);
  if ($ref !== undefined) return Object.keys(rest).length === 0 ? { $ref } : { allOf: [{ $ref }], ...rest };
  return {
    ...(Array.isArray(type) ? nullableType(type) : type !== undefined && { type }),
    ...(constant !== undefined && { enum: [constant] }),
    ...rest,
  };
}

function nullableType(types: JsonValue[]): JsonObject {
  const type = types.find((name) => name !== 'null') ?? 'object';
  return types.includes('null') ? { type, nullable: true } : { type };
}
