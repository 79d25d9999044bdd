import { exampleQueryParametersByOperation } from '../examples/example-requests.ts';
import { createCommandLineSample } from './command-line-sample.ts';
import { createCurlSample } from './curl-sample.ts';
import { createPythonSample } from './python-sample.ts';
import type { SampleCall } from './sample-call-and-shell-quoting.ts';
import { createTypeScriptSample } from './typescript-sample.ts';
import { isJsonObject, type JsonObject, type JsonValue, jsonPrimitiveToText } from '../../schema/json.ts';

/**
 * Returns the document with code samples for each operation (`x-codeSamples`), built from its examples. Every operation has samples for
 * curl and Python. If the SDK and the CLI support the API version, an operation also has samples for TypeScript and the CLI.
 */
export function addCodeSamples(document: JsonObject, origin: string, hasClients: boolean): JsonObject {
  const components = isJsonObject(document['components']) ? document['components'] : {};
  const schemas = isJsonObject(components['schemas']) ? components['schemas'] : {};
  const paths = entriesOf(document['paths']).map(([path, methods]): [string, JsonObject] => [
    path,
    Object.fromEntries(
      entriesOf(methods).map(([method, operation]) => {
        if (!isJsonObject(operation) || operation['x-internal'] === true) return [method, operation];
        return [method, { ...operation, 'x-codeSamples': samplesOf(callOf(origin, method, path, operation, schemas), hasClients) }];
      }),
    ),
  ]);
  return { ...document, paths: Object.fromEntries(paths) };
}

const entriesOf = (node: JsonValue | undefined): [string, JsonValue][] => Object.entries(isJsonObject(node) ? node : {});

const samplesOf = (call: SampleCall, hasClients: boolean): JsonObject[] => [
  { lang: 'curl', label: 'curl', source: createCurlSample(call) },
  ...(hasClients ? [{ lang: 'TypeScript', label: 'TypeScript', source: createTypeScriptSample(call) }] : []),
  ...(hasClients ? [{ lang: 'CLI', label: 'Command line', source: createCommandLineSample(call) }] : []),
  { lang: 'Python', label: 'Python', source: createPythonSample(call) },
];

function callOf(origin: string, method: string, path: string, operation: JsonObject, schemas: JsonObject): SampleCall {
  const parameters = (Array.isArray(operation['parameters']) ? operation['parameters'] : []).filter(isJsonObject);
  const parametersIn = (location: string): JsonObject[] => parameters.filter((parameter) => parameter['in'] === location);
  const has = (header: string): boolean => parametersIn('header').some(({ name }) => name === header);
  const responses = isJsonObject(operation['responses']) ? operation['responses'] : {};
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'));
  const requestBody = isJsonObject(operation['requestBody']) ? operation['requestBody'] : {};
  const [mediaType, media] = entriesOf(requestBody['content']).toSorted(([a], [b]) => jsonFirst(a) - jsonFirst(b))[0] ?? [];
  const isFile = mediaType !== undefined && !mediaType.endsWith('json');
  const operationId = jsonPrimitiveToText(operation['operationId']);
  return {
    origin,
    operationId,
    method: method.toUpperCase(),
    path,
    pathValues: parametersIn('path').map(({ name, example }) => [
      jsonPrimitiveToText(name),
      typeof example === 'number' ? example : jsonPrimitiveToText(example),
    ]),
    query: exampleQueryParametersByOperation[operationId] ?? {},
    hasQuery: parametersIn('query').length > 0,
    ...(mediaType !== undefined &&
      !isFile &&
      isJsonObject(media) && { body: { value: media['example'] ?? {}, schema: resolveReference(media['schema'], schemas) } }),
    ...(isFile && { file: { name: fileName(operationId, mediaType), mediaType } }),
    ...(schemas && { schemas }),
    // An operation that requires If-Match also accepts `*`.
    requiresIfMatch: '428' in responses,
    idempotent: has('Idempotency-Key'),
    paginated: parametersIn('query').some(({ name }) => name === 'cursor'),
    needsToken: Array.isArray(operation['security']) && operation['security'].length > 0,
    resultKind: resultKindOf(success?.[1]),
  };
}

const jsonFirst = (mediaType: string): number => (mediaType === 'application/json' ? 0 : 1);

const fileName = (operationId: string, mediaType: string): string =>
  mediaType.startsWith('image/')
    ? `logo.${mediaType.slice('image/'.length)}`
    : `${operationId.startsWith('product') ? 'products' : 'orders'}.${mediaType === 'text/csv' ? 'csv' : 'ndjson'}`;

function resultKindOf(response: JsonValue | undefined): SampleCall['resultKind'] {
  const types = entriesOf(isJsonObject(response) ? response['content'] : undefined).map(([type]) => type);
  if (types.length === 0) return 'nothing';
  return types.includes('application/json') ? 'json' : 'file';
}

/** Returns the referenced schema if `schema` is a reference, otherwise `schema`. */
function resolveReference(schema: JsonValue | undefined, schemas: JsonObject): JsonObject {
  if (!isJsonObject(schema)) return {};
  const target = typeof schema['$ref'] === 'string' ? schemas[schema['$ref'].split('/').at(-1) ?? ''] : undefined;
  return isJsonObject(target) ? target : schema;
}
