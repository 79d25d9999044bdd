import { isJsonObject, jsonPrimitiveToText, type JsonObject, type JsonValue } from '@mandate/contract/json';
import { problemPageTexts } from '../problems/problem-page-texts.ts';
import { readApiV1OpenApiDocument } from './serve-openapi-documents.ts';

/**
 * Returns the OpenAPI document for the API reference page. Error responses explain how to fix each error. Error responses have no examples,
 * because examples would double the size of the document. The page offers only user sign-in, because client credentials and API keys are
 * secrets that do not belong on a web page.
 */
export function createReferencePageOpenApiDocument(issuer: string): JsonObject {
  const document = readApiV1OpenApiDocument(issuer);
  const components = objectAt(document, 'components');
  const oauth2 = objectAt(objectAt(components, 'securitySchemes'), 'oauth2');
  // The page does not get refresh tokens, so that it never holds a long-lived secret.
  const { refreshUrl: _, ...authorizationCode } = objectAt(objectAt(oauth2, 'flows'), 'authorizationCode');
  return {
    ...document,
    tags: tagsWithPublicOperations(document),
    paths: mapValues(objectAt(document, 'paths'), (methods) => mapValues(methods, (operation) => adaptOperation(operation))),
    components: {
      ...components,
      responses: mapValues(objectAt(components, 'responses'), explainErrors),
      securitySchemes: { oauth2: { ...oauth2, flows: { authorizationCode } } },
    },
  };
}

/**
 * Returns the tags of the operations and webhooks that are not internal. The page hides internal operations, but would still show their
 * empty sections.
 */
function tagsWithPublicOperations(document: JsonObject): JsonValue[] {
  const names = [...Object.values(objectAt(document, 'paths')), ...Object.values(objectAt(document, 'webhooks'))]
    .flatMap((methods) => (isJsonObject(methods) ? Object.values(methods) : []))
    .flatMap((operation) => (isJsonObject(operation) && operation['x-internal'] !== true ? operation['tags'] : []));
  const tags = Array.isArray(document['tags']) ? document['tags'] : [];
  return tags.filter((tag) => isJsonObject(tag) && names.includes(tag['name']));
}

function adaptOperation(operation: JsonObject): JsonObject {
  const { parameters, security } = operation;
  return {
    ...operation,
    ...(Array.isArray(parameters) && { parameters: parameters.map((one) => (isJsonObject(one) ? disableOptionalParameter(one) : one)) }),
    ...(Array.isArray(security) && { security: security.filter((one) => isJsonObject(one) && !('apiKey' in one)) }),
  };
}

/** Marks the example of an optional parameter as disabled, so that the request form shows the parameter but does not send it by default. */
function disableOptionalParameter({ example, ...parameter }: JsonObject): JsonObject {
  const schema = objectAt(parameter, 'schema');
  const value = example ?? schema['default'] ?? (Array.isArray(schema['enum']) ? schema['enum'][0] : undefined);
  if (value === undefined) return parameter;
  if (parameter['required'] === true) return { ...parameter, example: value };
  return { ...parameter, examples: { example: { value, 'x-disabled': true } } };
}

/** Adds the cause and the solution of each error to the description of an error response, and removes the examples. */
function explainErrors(response: JsonObject): JsonObject {
  const codes = response['x-problem-codes'];
  if (!Array.isArray(codes)) return response;
  const explanations = Object.entries(problemPageTexts)
    .filter(([code]) => codes.includes(code))
    .map(([code, { cause, fix }]) => `- \`${code}\`: ${cause}\n\n  **To fix it:** ${fix}`);
  return {
    ...response,
    description: `${jsonPrimitiveToText(response['description']).split(':')[0]}.\n\n${explanations.join('\n')}`,
    content: mapValues(objectAt(response, 'content'), ({ schema = {} }) => ({ schema })),
  };
}

function objectAt(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return isJsonObject(value) ? value : {};
}

const mapValues = (object: JsonObject, change: (value: JsonObject) => JsonValue): JsonObject =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, isJsonObject(value) ? change(value) : value]));
