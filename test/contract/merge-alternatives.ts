import { isDeepStrictEqual } from 'node:util';

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Adds to each named schema with alternatives (`oneOf` or `anyOf`) the fields that all alternatives have. The comparison of documents
 * ignores alternatives. Without the added fields, an object that was split into alternatives would seem to have lost all its fields.
 */
export function mergeAlternatives(document: unknown): unknown {
  if (!isObject(document) || !isObject(document['components']) || !isObject(document['components']['schemas'])) return document;
  const { components } = document;
  const schemas = isObject(components['schemas']) ? components['schemas'] : {};
  const merged = Object.entries(schemas).map(([name, schema]) => [name, isObject(schema) ? withCommonKeywords(schema, schemas) : schema]);
  return { ...document, components: { ...components, schemas: Object.fromEntries(merged) } };
}

function withCommonKeywords(schema: Json, schemas: Json): Json {
  if (!('oneOf' in schema || 'anyOf' in schema) || 'properties' in schema) return schema;
  const [first, ...others] = listAlternatives(schema, schemas);
  return { ...schema, ...(first && commonKeywords(first, others, schemas)) };
}

/** Returns a schema's alternatives. If an alternative itself has alternatives, returns these instead of it. */
const listAlternatives = (schema: Json, schemas: Json): Json[] => {
  const target = resolve(schema, schemas);
  const alternatives = target['oneOf'] ?? target['anyOf'];
  return Array.isArray(alternatives)
    ? alternatives.filter(isObject).flatMap((alternative) => listAlternatives(alternative, schemas))
    : [target];
};

function resolve(schema: Json, schemas: Json): Json {
  const { $ref } = schema;
  const target = typeof $ref === 'string' ? schemas[$ref.replace('#/components/schemas/', '')] : undefined;
  return isObject(target) ? resolve(target, schemas) : schema;
}

/** Returns the keywords that have the same value in all schemas. Fields that all schemas have are merged in the same way. */
function commonKeywords(first: Json, others: readonly Json[], schemas: Json): Json {
  const entries = Object.entries(first).flatMap(([keyword, value]): [string, unknown][] => {
    const values = others.map((other) => other[keyword]);
    if (values.every((other) => isDeepStrictEqual(other, value))) return [[keyword, value]];
    if (keyword === 'required' && Array.isArray(value))
      return [[keyword, value.filter((name) => values.every((names) => Array.isArray(names) && names.includes(name)))]];
    if (keyword === 'properties' && isObject(value)) return [[keyword, commonProperties(value, values, schemas)]];
    return [];
  });
  // An object without `additionalProperties` allows additional properties, too.
  const allowed = [first, ...others].map(({ additionalProperties = {} }) => additionalProperties);
  const allowsAny =
    'type' in first && allowed.every((value) => isDeepStrictEqual(value, {})) && [first, ...others].some(hasAdditionalProperties);
  return { ...Object.fromEntries(entries), ...(allowsAny && { additionalProperties: {} }) };
}

const hasAdditionalProperties = (schema: Json): boolean => 'additionalProperties' in schema;

function commonProperties(first: Json, others: readonly unknown[], schemas: Json): Json {
  const entries = Object.entries(first).flatMap(([name, property]): [string, unknown][] => {
    const properties = [property, ...others.map((other) => (isObject(other) ? other[name] : undefined))].filter(isObject);
    if (properties.length <= others.length) return [];
    const [one = {}, ...more] = properties.map((each) => resolve(each, schemas));
    return [[name, commonKeywords(one, more, schemas)]];
  });
  return Object.fromEntries(entries);
}
