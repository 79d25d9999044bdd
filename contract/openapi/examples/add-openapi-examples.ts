import {
  exampleRequestBodiesBySchemaName,
  exampleFilesByOperation,
  examplePathParameters,
  exampleQueryParametersByOperation,
} from './example-requests.ts';
import { createProblemExample } from './example-problems.ts';
import { examplesBySchemaName } from './schema-examples.ts';
import { isJsonObject, mapJsonObjectValues, type JsonObject, type JsonValue, jsonPrimitiveToText } from '../../schema/json.ts';

/** Example values by field name, for schemas without a complete example. */
const valuesByFieldName: Readonly<Record<string, JsonValue>> = {
  categories: ['bags'],
  has_more: false,
  next_cursor: null,
  requires_address: true,
  currency: 'GBP',
  email: 'ann@example.com',
  client_id: 'mandate-cli',
  deprecated_at: null,
  sunset_at: null,
  next_after: 1018,
  latest_id: 1018,
  month: '2026-11',
  shipping_method: 'collection',
  shipping_address: { recipient_name: 'Ann Lee' },
  policy: 'burst',
};

const exampleTimestamp = '2026-11-20T09:30:00.000Z';
const omittedFields = new Set(['total_count', 'total_count_capped']);

/** Returns a schema example: the complete example of a named schema if there is one, otherwise an example generated field by field. */
export function findOrGenerateSchemaExample(schema: JsonObject, schemas: JsonObject, name = ''): JsonValue {
  const { $ref, example, enum: choices, properties, items, type, format, default: defaultValue, minimum } = schema;
  if (typeof $ref === 'string') {
    const component = $ref.split('/').at(-1) ?? '';
    const target = schemas[component];
    if (!isJsonObject(target)) return null;
    const complete = examplesBySchemaName[component] ?? exampleRequestBodiesBySchemaName[component];
    return complete ? fitToSchema(complete, target, schemas) : findOrGenerateSchemaExample(target, schemas, name);
  }
  if (example !== undefined) return example;
  const value = valuesByFieldName[name];
  if (value !== undefined) return value;
  const first = alternativesOf(schema).find((alternative) => alternative['type'] !== 'null');
  if (first) return findOrGenerateSchemaExample(first, schemas, name);
  if (Array.isArray(choices)) return choices[0] ?? null;
  if (schema['const'] !== undefined) return schema['const'];
  if (isJsonObject(properties)) return exampleObject(properties, schemas);
  if (isJsonObject(items)) return [findOrGenerateSchemaExample(items, schemas, name)];
  if (defaultValue !== undefined) return defaultValue;
  const typeName = Array.isArray(type) ? type.find((member) => member !== 'null') : type;
  if (typeName === 'object') return {};
  if (typeName === 'boolean') return false;
  if (typeName === 'integer' || typeName === 'number') return typeof minimum === 'number' && minimum > 0 ? minimum : 1;
  return exampleText(format, name);
}

const alternativesOf = ({ oneOf, anyOf, allOf }: JsonObject): JsonObject[] =>
  [oneOf, anyOf, allOf].flatMap((schemas) => (Array.isArray(schemas) ? schemas : [])).filter(isJsonObject);

/**
 * Adds generated values for required fields that are missing from an example, and removes fields that this version of the schema does not
 * have.
 */
function fitToSchema(complete: JsonObject, { properties, required }: JsonObject, schemas: JsonObject): JsonObject {
  // The schema has alternatives, one of which the example matches.
  if (properties === undefined) return complete;
  const known = isJsonObject(properties) ? properties : {};
  const missing = (Array.isArray(required) ? required : []).map(jsonPrimitiveToText).filter((name) => !(name in complete));
  const exampleAt = (name: string): JsonValue =>
    isJsonObject(known[name]) ? findOrGenerateSchemaExample(known[name], schemas, name) : null;
  const kept = Object.entries(complete).filter(([name]) => name in known);
  return Object.fromEntries([...kept, ...missing.map((name): [string, JsonValue] => [name, exampleAt(name)])]);
}

const exampleObject = (properties: JsonObject, schemas: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, property]) =>
      omittedFields.has(name) || !isJsonObject(property) ? [] : [[name, findOrGenerateSchemaExample(property, schemas, name)]],
    ),
  );

function exampleText(format: JsonValue | undefined, name: string): string {
  if (format === 'date-time') return exampleTimestamp;
  if (format === 'date') return exampleTimestamp.slice(0, 10);
  if (format === 'uri') return 'https://app.example/';
  if (format === 'email') return 'ann@example.com';
  return name.replaceAll('_', ' ') || 'text';
}

/** Returns the document with an example for every path parameter, request body and response. */
export function addOpenApiExamples(document: JsonObject, origin: string): JsonObject {
  const components = isJsonObject(document['components']) ? document['components'] : {};
  const schemas = isJsonObject(components['schemas']) ? components['schemas'] : {};
  const problemExamples = new Map<string, JsonObject>();
  const paths = mapJsonObjectValues(document['paths'], (methods) =>
    mapJsonObjectValues(methods, (operation) =>
      isJsonObject(operation) ? operationWithExamples(operation, schemas, origin, problemExamples) : operation,
    ),
  );
  const examples = Object.fromEntries([...problemExamples].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { ...document, paths, components: { ...components, examples } };
}

function operationWithExamples(
  operation: JsonObject,
  schemas: JsonObject,
  origin: string,
  problemExamples: Map<string, JsonObject>,
): JsonObject {
  const { parameters, requestBody, responses, ...rest } = operation;
  const id = jsonPrimitiveToText(operation['operationId']);
  const contentWithExamples = (content: JsonValue | undefined): JsonObject =>
    mapJsonObjectValues(content, (media, type) =>
      isJsonObject(media) && !type.startsWith('image/') ? { ...media, example: exampleContent(id, type, media, schemas) } : media,
    );
  return {
    ...rest,
    ...(Array.isArray(parameters) && { parameters: parameters.map((parameter) => withParameterExample(id, parameter)) }),
    ...(isJsonObject(requestBody) && { requestBody: { ...requestBody, content: contentWithExamples(requestBody['content']) } }),
    responses: mapJsonObjectValues(responses, (response) => {
      if (!isJsonObject(response) || !isJsonObject(response['content'])) return response;
      const codes = response['x-problem-codes'];
      if (!Array.isArray(codes)) return { ...response, content: contentWithExamples(response['content']) };
      return { ...response, content: problemsWithExamples(response['content'], codes.map(jsonPrimitiveToText), origin, problemExamples) };
    }),
  };
}

const exampleContent = (operationId: string, mediaType: string, { schema }: JsonObject, schemas: JsonObject): JsonValue =>
  exampleFilesByOperation[operationId]?.[mediaType] ?? (isJsonObject(schema) ? findOrGenerateSchemaExample(schema, schemas) : null);

/**
 * Adds an example to a parameter. The API reference page prefills its forms with examples, so optional query parameters have no example.
 */
function withParameterExample(operationId: string, parameter: JsonValue): JsonValue {
  if (!isJsonObject(parameter)) return parameter;
  const { in: location, name, required, schema } = parameter;
  const query =
    location === 'query' && required === true ? exampleQueryParametersByOperation[operationId]?.[jsonPrimitiveToText(name)] : undefined;
  const inPath =
    location === 'path' && isJsonObject(schema)
      ? (examplePathParameters[jsonPrimitiveToText(name)] ?? findOrGenerateSchemaExample(schema, {}, jsonPrimitiveToText(name)))
      : undefined;
  const example = inPath ?? query;
  return example === undefined ? parameter : { ...parameter, example };
}

function problemsWithExamples(
  content: JsonObject,
  codes: readonly string[],
  origin: string,
  problemExamples: Map<string, JsonObject>,
): JsonObject {
  for (const code of codes) if (!problemExamples.has(code)) problemExamples.set(code, createProblemExample(code, origin));
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));
  return mapJsonObjectValues(content, (media) => (isJsonObject(media) ? { ...media, examples } : media));
}
