import { exampleQueries } from '../examples/example-requests.ts';
import { commandLineSample } from './command-line.ts';
import { curlSample } from './curl.ts';
import type { SampleCall } from './sample-call.ts';
import { typeScriptSample } from './typescript.ts';
import { isJson, type Json, type JsonValue, textOf } from '../../schema/json.ts';

/**
 * The document with each operation shown in curl (`x-codeSamples`), out of its examples; and, where our own clients speak this
 * version, in TypeScript and on the command line.
 */
export function withSamples(document: Json, origin: string, clients: boolean): Json {
  const components = isJson(document['components']) ? document['components'] : {};
  const schemas = isJson(components['schemas']) ? components['schemas'] : {};
  const paths = entriesOf(document['paths']).map(([path, methods]): [string, Json] => [
    path,
    Object.fromEntries(
      entriesOf(methods).map(([method, operation]) => {
        if (!isJson(operation) || operation['x-internal'] === true) return [method, operation];
        return [method, { ...operation, 'x-codeSamples': samplesOf(callOf(origin, method, path, operation, schemas), clients) }];
      }),
    ),
  ]);
  return { ...document, paths: Object.fromEntries(paths) };
}

const entriesOf = (node: JsonValue | undefined): [string, JsonValue][] => Object.entries(isJson(node) ? node : {});

const samplesOf = (call: SampleCall, clients: boolean): Json[] => [
  { lang: 'curl', label: 'curl', source: curlSample(call) },
  ...(clients ? [{ lang: 'TypeScript', label: 'TypeScript', source: typeScriptSample(call) }] : []),
  ...(clients ? [{ lang: 'CLI', label: 'Command line', source: commandLineSample(call) }] : []),
];

function callOf(origin: string, method: string, path: string, operation: Json, schemas: Json): SampleCall {
  const parameters = (Array.isArray(operation['parameters']) ? operation['parameters'] : []).filter(isJson);
  const named = (place: string): Json[] => parameters.filter((parameter) => parameter['in'] === place);
  const has = (header: string): boolean => named('header').some(({ name }) => name === header);
  const responses = isJson(operation['responses']) ? operation['responses'] : {};
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'));
  const requestBody = isJson(operation['requestBody']) ? operation['requestBody'] : {};
  const [mediaType, media] = entriesOf(requestBody['content']).toSorted(([a], [b]) => jsonFirst(a) - jsonFirst(b))[0] ?? [];
  const isFile = mediaType !== undefined && !mediaType.endsWith('json');
  const operationId = textOf(operation['operationId']);
  return {
    origin,
    operationId,
    method: method.toUpperCase(),
    path,
    pathValues: named('path').map(({ name, example }) => [textOf(name), typeof example === 'number' ? example : textOf(example)]),
    query: exampleQueries[operationId] ?? {},
    hasQuery: named('query').length > 0,
    ...(mediaType !== undefined &&
      !isFile &&
      isJson(media) && { body: { value: media['example'] ?? {}, schema: resolved(media['schema'], schemas) } }),
    ...(isFile && { file: { name: fileName(operationId, mediaType), mediaType } }),
    ...(schemas && { schemas }),
    // what must name the version it means may mean any
    anyVersion: '428' in responses,
    idempotent: has('Idempotency-Key'),
    paginated: named('query').some(({ name }) => name === 'cursor'),
    needsToken: Array.isArray(operation['security']) && operation['security'].length > 0,
    gives: givesOf(success?.[1]),
  };
}

const jsonFirst = (mediaType: string): number => (mediaType === 'application/json' ? 0 : 1);

const fileName = (operationId: string, mediaType: string): string =>
  `${operationId.startsWith('product') ? 'products' : 'orders'}.${mediaType === 'text/csv' ? 'csv' : 'ndjson'}`;

function givesOf(response: JsonValue | undefined): SampleCall['gives'] {
  const types = entriesOf(isJson(response) ? response['content'] : undefined).map(([type]) => type);
  if (types.length === 0) return 'nothing';
  return types.includes('application/json') ? 'json' : 'file';
}

/** The schema itself where only its name stands. */
function resolved(schema: JsonValue | undefined, schemas: Json): Json {
  if (!isJson(schema)) return {};
  const target = typeof schema['$ref'] === 'string' ? schemas[schema['$ref'].split('/').at(-1) ?? ''] : undefined;
  return isJson(target) ? target : schema;
}
