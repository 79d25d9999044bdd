import { readFile } from 'node:fs/promises';

/** The parts of an OpenAPI document that the generator reads. */
export type OpenApiDocument = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
};

type SchemaReference = { readonly $ref?: string };
type Content = Readonly<Record<string, { readonly schema: SchemaReference }>>;

type OpenApiOperation = {
  readonly operationId: string;
  readonly 'x-internal'?: boolean;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: 'path' | 'query' | 'header'; readonly required?: boolean }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content; readonly 'x-problem-codes'?: readonly string[] }>>;
  readonly security: readonly { readonly oauth2?: readonly string[] }[];
};

/** An operation, reduced to what the generator needs. */
export type Operation = {
  readonly id: string;
  readonly resource: string;
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string | undefined;
  readonly pathParameters: readonly string[];
  readonly query: readonly string[];
  readonly queryRequired: boolean;
  /** Whether `dry_run` is the only query parameter. It is then an option of the method, which takes no query. */
  readonly dryRun: boolean;
  readonly bodySchema: string | undefined;
  /** Whether the request body is a file, and whether the response is one. */
  readonly takesFile: boolean;
  readonly givesFile: boolean;
  readonly dataSchema: string | undefined;
  readonly ifMatch: boolean;
  readonly ifNoneMatch: boolean;
  readonly needsToken: boolean;
  readonly scopes: readonly string[];
  readonly idempotent: boolean;
  readonly paginated: boolean;
  /** HTTP status by problem code. */
  readonly problems: Readonly<Record<string, number>>;
};

/** Reads a generated OpenAPI document of the contract. */
export async function readOpenApiDocument(name: 'openapi.json' | 'openapi-v2.json'): Promise<OpenApiDocument> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the document is generated and validated in this repository
  return JSON.parse(await readFile(new URL(`../../contract/openapi/${name}`, import.meta.url), 'utf8')) as OpenApiDocument;
}

/** Returns the operations of a document, without internal ones. */
export const listOperations = ({ paths }: OpenApiDocument): Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => (operation['x-internal'] ? [] : [toOperation(method, path, operation)])),
  );

function toOperation(method: string, path: string, operation: OpenApiOperation): Operation {
  const { operationId: id, parameters = [], requestBody, responses } = operation;
  const [resource, name] = id.split('.');
  if (resource === undefined || name === undefined) throw new Error(`${id} is not of the form resource.method`);
  const parameterNames = (location: string) =>
    parameters.filter((parameter) => parameter.in === location).map((parameter) => parameter.name);
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1];
  const problems = Object.fromEntries(
    Object.entries(responses).flatMap(([status, response]) => (response['x-problem-codes'] ?? []).map((code) => [code, Number(status)])),
  );
  const headers = parameterNames('header');
  const query = parameterNames('query');
  const dryRun = query.length === 1 && query[0] === 'dry_run';
  return {
    id,
    resource,
    name,
    method: method.toUpperCase(),
    path,
    summary: operation.summary,
    description: operation.description,
    pathParameters: Array.from(path.matchAll(/\{(\w+)\}/g), ([, parameter = '']) => parameter),
    query: dryRun ? [] : query,
    dryRun,
    queryRequired: parameters.some((parameter) => parameter.in === 'query' && parameter.required === true),
    bodySchema: schemaName(id, requestBody?.content),
    takesFile: isFile(requestBody?.content),
    givesFile: isFile(success?.content),
    dataSchema: schemaName(id, success?.content),
    ifMatch: headers.includes('If-Match'),
    ifNoneMatch: headers.includes('If-None-Match'),
    needsToken: operation.security.length > 0,
    scopes: operation.security.flatMap(({ oauth2 = [] }) => oauth2),
    idempotent: headers.includes('Idempotency-Key'),
    paginated: query.includes('cursor'),
    problems,
  };
}

const isFile = (content: Content = {}): boolean => Object.keys(content).length > 0 && !('application/json' in content);

function schemaName(id: string, content: Content | undefined): string | undefined {
  const schema = content?.['application/json']?.schema;
  if (schema === undefined) return undefined;
  const name = schema.$ref?.split('/').at(-1);
  if (name === undefined) throw new Error(`a body of ${id} has no named schema`);
  return name;
}
