import { isJsonObject, type JsonObject, type JsonValue } from '../schema/json.ts';
import {
  copySchemaWithoutConstraints,
  selectOutcomeFieldsOfSchema,
  reduceSchemaToFieldTypes,
} from './compact-and-summarize-json-schemas.ts';
import { idempotencyKeyToolArgumentName, ifMatchToolArgumentName, type McpTool } from './mcp-tool-type.ts';

export { selectMcpTools, UnknownMcpToolSetError, type McpToolSelection } from './select-mcp-tools.ts';
export {
  createErrorToolResult,
  toolRequestFromCall,
  toolResultFromResponse,
  type ToolRequest,
  type ToolResult,
} from './convert-tool-call-and-result.ts';
export { describeApiError, type AccessAdvice, type ToolResponse } from './describe-api-error.ts';
export { formatToolsWithScopes, mcpInstructions } from './mcp-instructions.ts';
export { listUsablePrompts } from './mcp-prompts.ts';
export { formatResourceUri, listUsableMcpResourceTypes, type SendToolRequest, type UsableTools } from './mcp-resources.ts';
export type { McpTool } from './mcp-tool-type.ts';

/** Operations that are not offered as tools for reasons that are not apparent from the OpenAPI document, each with the reason. */
const operationsWithoutMcpTool: Readonly<Record<string, string>> = {
  'signingKeys.rotate': 'must be decided by a human',
  'identityProviders.create': 'requires a secret, which must not appear in a conversation',
  'identityProviders.update': 'requires a secret, which must not appear in a conversation',
  'approvals.approve': 'must be decided by a human',
  'approvals.decline': 'must be decided by a human',
  'userExports.create': 'must be decided by a human',
  'backups.list': 'is only for operators',
  'backups.create': 'is only for operators',
  'backups.check': 'is only for operators',
};

/** Returns the reason why an operation is not offered as a tool; `undefined` if the operation is offered. */
export function getMcpToolExclusionReason(document: JsonObject, operation: JsonObject): string | undefined {
  if (operation['x-internal'] === true) return 'is only for external systems';
  const requestContent = objectAt(objectAt(operation, 'requestBody'), 'content');
  const responseContent = successContent(operation);
  const fields = objectAt(responseSchema(document, operation), 'properties');
  if (Object.values(fields).some((field) => 'x-null-in-replay' in asJson(field)))
    return 'returns a secret, which must not appear in a conversation';
  if (containsOnlyFiles(requestContent)) return 'requires a file';
  if (containsOnlyFiles(responseContent)) return 'returns a file';
  return operationsWithoutMcpTool[textAt(operation, 'operationId')];
}

const jsonMediaType = 'application/json';

function successContent(operation: JsonObject): JsonObject {
  const [, success = {}] = Object.entries(objectAt(operation, 'responses')).find(([status]) => status.startsWith('2')) ?? [];
  return objectAt(asJson(success), 'content');
}

/** Returns the JSON schema of a successful response, or an empty schema if the response has no JSON body. */
const responseSchema = (document: JsonObject, operation: JsonObject): JsonObject =>
  asJson(selfContained(document, objectAt(objectAt(successContent(operation), jsonMediaType), 'schema')));

const containsOnlyFiles = (content: JsonObject): boolean => Object.keys(content).length > 0 && !(jsonMediaType in content);

/** Returns one tool for each operation in Mandate's OpenAPI document, except the excluded operations. */
export function createMcpTools(document: JsonObject): McpTool[] {
  const tools = Object.entries(objectAt(document, 'paths')).flatMap(([path, methods]) =>
    Object.entries(isJsonObject(methods) ? methods : {}).flatMap(([method, operation]) =>
      isJsonObject(operation) && getMcpToolExclusionReason(document, operation) === undefined
        ? [toolOf(document, path, method, operation)]
        : [],
    ),
  );
  // An operation can exist in several API versions. An assistant needs only one version.
  return tools.filter(({ name }, index) => tools.findIndex((other) => other.name === name) === index);
}

function toolOf(document: JsonObject, path: string, method: string, operation: JsonObject): McpTool {
  const operationId = textAt(operation, 'operationId');
  const [title, details] = [textAt(operation, 'summary'), textAt(operation, 'description')];
  const parameters = (Array.isArray(operation['parameters']) ? operation['parameters'] : [])
    .filter(isJsonObject)
    .filter((parameter) => !parametersWithoutArgument.has(textAt(parameter, 'name')));
  const parametersIn = (location: string): JsonObject[] => parameters.filter((parameter) => parameter['in'] === location);
  const accepts = (location: string, name: string): boolean => parametersIn(location).some((parameter) => parameter['name'] === name);
  const body = objectAt(objectAt(objectAt(objectAt(operation, 'requestBody'), 'content'), 'application/json'), 'schema');
  const hasBody = Object.keys(body).length > 0;
  const readOnly = method === 'get';
  const [keyed, conditional] = [accepts('header', 'Idempotency-Key'), accepts('header', 'If-Match')];
  const [toolSet = '', action = ''] = operationId.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).split('.');
  const response = mostGeneralAlternative(responseSchema(document, operation));
  const movesMoney = method === 'post' && operationsThatMoveMoney.test(operationId);
  return {
    name: `${toolSet}_${action}`,
    toolSet,
    title,
    description: describeTool(title, details.replace(sentenceAboutIdempotencyKey, '')),
    method: method.toUpperCase(),
    path,
    pathArguments: parametersIn('path').map((parameter) => textAt(parameter, 'name')),
    queryArguments: parametersIn('query').map((parameter) => textAt(parameter, 'name')),
    hasBody,
    scopes: scopesOf(operation),
    readOnly,
    destructive: !readOnly && (method !== 'post' || movesMoney || operationId === 'products.adjustStock'),
    idempotent: method !== 'post',
    keyed,
    conditional,
    ...(readOnly && 'properties' in response && { outputSchema: reduceSchemaToFieldTypes(response) }),
    ...(movesMoney && 'properties' in response && { outputSchema: selectOutcomeFieldsOfSchema(response) }),
    ...(startsTask(operationId, operation) && { startsTask: true }),
    inputSchema: inputSchema(operationId, [
      ...[...parametersIn('path'), ...parametersIn('query')].map((parameter) => parameterSchema(document, parameter)),
      ...(hasBody ? [asJson(selfContained(document, body))] : []),
      ...(conditional ? [{ properties: { [ifMatchToolArgumentName]: conditionSchema } }] : []),
      ...(keyed ? [{ properties: { [idempotencyKeyToolArgumentName]: keySchema } }] : []),
    ]),
  };
}

/** Returns whether the operation starts a task. The `tasks` operations are excluded, because they return existing tasks. */
const startsTask = (operationId: string, operation: JsonObject): boolean =>
  !operationId.startsWith('tasks.') &&
  objectAt(objectAt(successContent(operation), jsonMediaType), 'schema')['$ref'] === '#/components/schemas/Task';

/**
 * Matches a sentence about the `Idempotency-Key` header. The sentence is removed, because tools have an argument for the key, which has its
 * own description.
 */
const sentenceAboutIdempotencyKey = / ?[^.]*`Idempotency-Key`[^.]*\./;

/** POST operations that spend, move or return money, or cancel something. */
const operationsThatMoveMoney = /^(?:payments|refunds)\.|^orders\.create$|\.(?:cancel|confirm)$/;

const conditionSchema = {
  type: 'string',
  description: 'ETag of the version to change, from an earlier response. If the resource has changed since then, the call fails.',
};

const keySchema = {
  type: 'string',
  pattern: '^[\\w.:-]{1,128}$',
  description: 'Any unique string. If the outcome of a call is unknown, repeat it with the same key; it is executed only once.',
};

const scopesOf = (operation: JsonObject): string[] =>
  (Array.isArray(operation['security']) ? operation['security'] : [])
    .filter(isJsonObject)
    .flatMap((requirement) => (Array.isArray(requirement['oauth2']) ? requirement['oauth2'] : []))
    .filter((scope) => typeof scope === 'string');

/** Parameters that assistants do not need. `has_more` shows whether there are more results. */
const parametersWithoutArgument: ReadonlySet<string> = new Set(['include_total']);

/**
 * Short descriptions of parameters that many tools have. The longer descriptions in the OpenAPI document would account for a tenth of the
 * context that the tools use.
 */
const shortDescriptions: Readonly<Record<string, string>> = {
  limit: '',
  cursor: '`next_cursor` of the previous page.',
  dry_run: 'Validates and prices the request without changing anything.',
};

/**
 * Short descriptions of body fields, by operation. These descriptions omit the test provider's simulated outcomes, which assistants do not
 * need.
 */
const shortFieldDescriptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'payments.create': {
    method_token:
      "The provider's token for the payment method. If no token is sent, the customer must complete the payment. For Stripe, the ID of a PaymentMethod (`pm_...`). For the test provider: `test_ok`; the error for an unknown token lists all tokens.",
  },
};

function parameterSchema(document: JsonObject, parameter: JsonObject): JsonObject {
  const name = textAt(parameter, 'name');
  const description = shortDescriptions[name] ?? textAt(parameter, 'description');
  const { description: _, ...schema } = asJson(selfContained(document, objectAt(parameter, 'schema')));
  const isBoolean = JSON.stringify(schema['enum']) === '["true","false"]';
  const described = { ...(isBoolean ? { type: 'boolean' } : schema), ...(description !== '' && { description }) };
  return { properties: { [name]: described }, required: parameter['required'] === true ? [name] : [] };
}

/** Returns the tool's description. Omits the title if the details repeat it, because assistants also receive the title separately. */
function describeTool(title: string, details: string): string {
  if (details === '') return `${title}.`;
  return details.startsWith('Returns ') ? details : `${title}.\n${details}`;
}

/** Returns the last and most general alternative of a schema, or the schema itself if it has no alternatives. */
const mostGeneralAlternative = (schema: JsonObject): JsonObject => {
  const alternatives = schema['oneOf'] ?? schema['anyOf'];
  return Array.isArray(alternatives) ? asJson(alternatives.at(-1)) : schema;
};

/** Combines the properties of all parts into one object schema. */
function inputSchema(operationId: string, parts: readonly JsonObject[]): JsonObject {
  const properties: JsonObject = {};
  for (const part of parts) {
    for (const [name, schema] of Object.entries(objectAt(part, 'properties'))) {
      if (name in properties) throw new Error(`${operationId} has two arguments called ${name}`);
      const description = shortFieldDescriptions[operationId]?.[name];
      properties[name] = description === undefined ? schema : { ...asJson(schema), description };
    }
  }
  const required = parts.flatMap((part) => (Array.isArray(part['required']) ? part['required'] : []));
  return copySchemaWithoutConstraints({
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  });
}

/** Returns the schema with all references resolved, and without examples, because examples would only use up context. */
function selfContained(document: JsonObject, value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => selfContained(document, item));
  if (!isJsonObject(value)) return value;
  const { $ref, example: _, examples: __, 'x-open-enum': ___, ...rest } = value;
  const members = Object.fromEntries(Object.entries(rest).map(([key, member]) => [key, selfContained(document, member)]));
  if (typeof $ref !== 'string') return members;
  const target = objectAt(objectAt(objectAt(document, 'components'), 'schemas'), $ref.split('/').at(-1) ?? '');
  return { ...asJson(selfContained(document, target)), ...members };
}

const asJson = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});
const objectAt = (object: JsonObject, key: string): JsonObject => asJson(object[key]);
const textAt = (object: JsonObject, key: string): string => (typeof object[key] === 'string' ? object[key] : '');
