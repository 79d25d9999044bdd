import { isJson, type Json, type JsonValue } from '../schema/json.ts';

/** An operation of the API as a tool of the Model Context Protocol, with what it takes to turn a call into a request. */
export type Tool = {
  /** `orders_create`. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly method: string;
  readonly path: string;
  /** Which arguments go where; all others are the body. */
  readonly pathArguments: readonly string[];
  readonly queryArguments: readonly string[];
  readonly hasBody: boolean;
  /** Any one of them is enough; none: no token is needed. */
  readonly scopes: readonly string[];
  readonly readOnly: boolean;
  /** Takes something away, changes what is there, or moves money. */
  readonly destructive: boolean;
  /** Whether a repeated call with the same arguments does nothing more. */
  readonly idempotent: boolean;
  /** Whether a repeated request can be told by its key. */
  readonly keyed: boolean;
  /** Whether a change can be asked for of one version only. */
  readonly conditional: boolean;
  readonly inputSchema: Json;
};

/** Operations that are no tools, and why. */
export const noTools: Readonly<Record<string, string>> = {
  'apiKeys.create': 'its answer is a secret, which has no place in a conversation',
  'applications.create': 'its answer is a secret',
  'applications.rotateSecret': 'its answer is a secret',
  'applications.createRegistrationToken': 'its answer is a secret',
  'webhooks.create': 'its answer is a secret',
  'webhooks.rotateSecret': 'its answer is a secret',
  'signingKeys.rotate': 'what it changes is for people to decide',
  'orderImports.create': 'takes a file',
  'productImports.create': 'takes a file',
  'tasks.result': 'answers a file',
};

/** Arguments that become headers. */
export const conditionArgument = 'if_match';
export const keyArgument = 'idempotency_key';

/** Every operation that an assistant can be given, of an OpenAPI document of ours. */
export function toolsOf(document: Json): Tool[] {
  const tools = Object.entries(objectAt(document, 'paths')).flatMap(([path, methods]) =>
    Object.entries(isJson(methods) ? methods : {}).flatMap(([method, operation]) =>
      isJson(operation) && isOffered(operation) ? [toolOf(document, path, method, operation)] : [],
    ),
  );
  // The same operation may be served in several versions; an assistant has no use for more than one.
  return tools.filter(({ name }, index) => tools.findIndex((other) => other.name === name) === index);
}

const isOffered = (operation: Json): boolean => operation['x-internal'] !== true && !(textAt(operation, 'operationId') in noTools);

function toolOf(document: Json, path: string, method: string, operation: Json): Tool {
  const operationId = textAt(operation, 'operationId');
  const [title, details] = [textAt(operation, 'summary'), textAt(operation, 'description')];
  const parameters = (Array.isArray(operation['parameters']) ? operation['parameters'] : []).filter(isJson);
  const within = (place: string): Json[] => parameters.filter((parameter) => parameter['in'] === place);
  const named = (place: string, name: string): boolean => within(place).some((parameter) => parameter['name'] === name);
  const body = objectAt(objectAt(objectAt(objectAt(operation, 'requestBody'), 'content'), 'application/json'), 'schema');
  const hasBody = Object.keys(body).length > 0;
  const readOnly = method === 'get';
  const [keyed, conditional] = [named('header', 'Idempotency-Key'), named('header', 'If-Match')];
  return {
    name: operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replace('.', '_'),
    title,
    description: details === '' ? `${title}.` : `${title}.\n${details}`,
    method: method.toUpperCase(),
    path,
    pathArguments: within('path').map((parameter) => textAt(parameter, 'name')),
    queryArguments: within('query').map((parameter) => textAt(parameter, 'name')),
    hasBody,
    scopes: scopesOf(operation),
    readOnly,
    destructive: !readOnly && (method !== 'post' || /^(?:payments|refunds)\.|\.(?:cancel|confirm)$/.test(operationId)),
    idempotent: method !== 'post',
    keyed,
    conditional,
    inputSchema: inputSchema(operationId, [
      ...[...within('path'), ...within('query')].map((parameter) => parameterSchema(document, parameter)),
      ...(hasBody ? [asJson(selfContained(document, body))] : []),
      ...(conditional ? [{ properties: { [conditionArgument]: conditionSchema } }] : []),
      ...(keyed ? [{ properties: { [keyArgument]: keySchema } }] : []),
    ]),
  };
}

const conditionSchema = { type: 'string', description: 'Only if it is still this version: the `etag` of what was read.' };

const keySchema = {
  type: 'string',
  pattern: '^[\\w.:-]{1,128}$',
  description: 'Any text of your own. A call whose outcome is not known can be repeated with the same one: it is carried out once.',
};

const scopesOf = (operation: Json): string[] =>
  (Array.isArray(operation['security']) ? operation['security'] : [])
    .filter(isJson)
    .flatMap((requirement) => (Array.isArray(requirement['oauth2']) ? requirement['oauth2'] : []))
    .filter((scope) => typeof scope === 'string');

function parameterSchema(document: Json, parameter: Json): Json {
  const [name, description] = [textAt(parameter, 'name'), textAt(parameter, 'description')];
  const schema = { ...asJson(selfContained(document, objectAt(parameter, 'schema'))), ...(description !== '' && { description }) };
  return { properties: { [name]: schema }, required: parameter['required'] === true ? [name] : [] };
}

/** One object with the members of all parts. */
function inputSchema(operationId: string, parts: readonly Json[]): Json {
  const properties: Json = {};
  for (const part of parts) {
    for (const [name, schema] of Object.entries(objectAt(part, 'properties'))) {
      if (name in properties) throw new Error(`${operationId} has two arguments called ${name}`);
      properties[name] = schema;
    }
  }
  const required = parts.flatMap((part) => (Array.isArray(part['required']) ? part['required'] : []));
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The schema with every reference replaced by what it leads to, and without the examples, which only take room. */
function selfContained(document: Json, value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => selfContained(document, item));
  if (!isJson(value)) return value;
  const { $ref, example: _, examples: __, 'x-open-enum': ___, ...rest } = value;
  const members = Object.fromEntries(Object.entries(rest).map(([key, member]) => [key, selfContained(document, member)]));
  if (typeof $ref !== 'string') return members;
  const target = objectAt(objectAt(objectAt(document, 'components'), 'schemas'), $ref.split('/').at(-1) ?? '');
  return { ...asJson(selfContained(document, target)), ...members };
}

const asJson = (value: JsonValue | undefined): Json => (isJson(value) ? value : {});
const objectAt = (object: Json, key: string): Json => asJson(object[key]);
const textAt = (object: Json, key: string): string => (typeof object[key] === 'string' ? object[key] : '');
