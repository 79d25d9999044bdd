import documentV1 from '@mandate/contract/openapi.json' with { type: 'json' };
import { createOpenApiDocument } from '@mandate/contract/openapi';
import { exampleRequestBodiesBySchemaName } from '../../../contract/openapi/examples/example-requests.ts';
import type { ApiResponse, ApiServer, JsonBody } from '../server/start-mandate.ts';

/** A query parameter or a JSON body member that an OpenAPI document declares. */
export type FieldCandidate = { readonly name: string; readonly schema: JsonBody };
export type RequestField = {
  readonly method: string;
  /** Path in which every parameter has the value 1. */
  readonly path: string;
  readonly query?: string;
  readonly pointer?: string;
  readonly schema: JsonBody;
  /** Valid example body, in which a test replaces one member. */
  readonly body: JsonBody;
};

/** Pattern for text that must contain at least one character other than white space. */
export const requiredTextPattern = String.raw`\S`;

/** Returns whether a schema accepts text in any language. */
export const isFreeText = ({ type, pattern = requiredTextPattern, format, enum: values }: JsonBody): boolean =>
  [type].flat().includes('string') && pattern === requiredTextPattern && format === undefined && values === undefined;

const resolveSchema = (document: JsonBody, schema: JsonBody): JsonBody =>
  typeof schema?.$ref === 'string' ? document.components.schemas[schema.$ref.split('/').at(-1)] : schema;

type RequestBodyMember = { readonly pointer: string; readonly schema: JsonBody };

/** Returns the request body members that match the predicate. */
function findMembers(
  document: JsonBody,
  schemaOrReference: JsonBody,
  matches: (candidate: FieldCandidate) => boolean,
  pointer = '',
): RequestBodyMember[] {
  const schema = resolveSchema(document, schemaOrReference) ?? {};
  if (matches({ name: pointer.split('/').at(-1) ?? '', schema })) return [{ pointer, schema }];
  const members = Object.entries<JsonBody>(schema.properties ?? {}).flatMap(([name, member]) =>
    findMembers(document, member, matches, `${pointer}/${name}`),
  );
  const items = schema.items ? findMembers(document, schema.items, matches, `${pointer}/0`) : [];
  const parts = [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  return [...members, ...items, ...parts.flatMap((part: JsonBody) => findMembers(document, part, matches, pointer))];
}

function findRequestFields(document: JsonBody, matches: (candidate: FieldCandidate) => boolean): RequestField[] {
  const operations = Object.entries<JsonBody>(document.paths).flatMap(([path, item]) =>
    Object.entries<JsonBody>(item).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, '1'),
      operation,
    })),
  );
  return operations.flatMap(({ method, path, operation }) => {
    const json = operation.requestBody?.content?.['application/json']?.schema;
    const body = json && exampleRequestBodiesBySchemaName[String(json.$ref).split('/').at(-1) ?? ''];
    const queries = (operation.parameters ?? []).filter(
      (parameter: JsonBody) =>
        parameter.in === 'query' && matches({ name: parameter.name, schema: resolveSchema(document, parameter.schema) }),
    );
    return [
      ...queries.map(({ name, schema }: JsonBody) => ({ method, path, query: name, body, schema: resolveSchema(document, schema) })),
      ...(json ? findMembers(document, json, matches) : []).map((member) => ({ method, path, ...member, body })),
    ];
  });
}

/** Returns the matching request fields of all operations in all API versions. */
export const listRequestFields = (matches: (candidate: FieldCandidate) => boolean): RequestField[] => [
  ...findRequestFields(documentV1, matches),
  ...findRequestFields(createOpenApiDocument('https://mandate.example', 'v2'), matches),
];

function withMember(body: JsonBody, pointer: string, value: string): JsonBody {
  const copy = structuredClone(body);
  const names = pointer.split('/').slice(1);
  const last = names.pop() ?? '';
  names.reduce((at, name) => (at[name] ??= {}), copy)[last] = value;
  return copy;
}

/** Sends a valid request with the given value in one field. */
export function sendRequestWithField(mandate: ApiServer, token: string, field: RequestField, value: string): Promise<ApiResponse> {
  const { method, path, query, pointer = '', body } = field;
  if (query === undefined) return mandate.callApi(method, path, { token, body: withMember(body, pointer, value) });
  const search = new URLSearchParams({ [query]: value }).toString();
  return mandate.callApi(method, `${path}?${search}`, { token, ...(body && { body }) });
}
