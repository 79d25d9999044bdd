import { writeFile } from 'node:fs/promises';
import { renderMockResponsesSource } from './render-mock-responses-source.ts';
import { renderTanStackQueryTypes } from './render-tanstack-query-types.ts';
import { createV1DocumentAndDocumentOfV2Changes } from './create-v1-document-and-document-of-v2-changes.ts';
import {
  generatedFileHeaderComment,
  listPublicOpenApiOperations,
  type OpenApiDocument,
  type Operation,
} from './openapi-types-and-operation-list.ts';

/** Returns the sources of all committed generated files in this package, by file name. */
export function renderCommittedGeneratedFiles(): Record<string, string> {
  const { v1, changedInV2 } = createV1DocumentAndDocumentOfV2Changes();
  return { ...sourcesOf(v1, ''), ...sourcesOf(changedInV2, '-v2') };
}

function sourcesOf(document: OpenApiDocument, suffix: string): Record<string, string> {
  const operations = listPublicOpenApiOperations(document);
  return {
    [`routes${suffix}.gen.ts`]: generatedFileHeaderComment + routesSource(operations),
    [`resources${suffix}.gen.ts`]: generatedFileHeaderComment + resourcesSource(document, operations, suffix),
    ...(suffix === '' && {
      'queries.gen.ts': generatedFileHeaderComment + renderTanStackQueryTypes(operations),
      'mock-responses.gen.ts': generatedFileHeaderComment + renderMockResponsesSource(document, operations),
    }),
  };
}

function routesSource(operations: Operation[]): string {
  const routes = [...Map.groupBy(operations, ({ resource }) => resource)].map(([resource, ofResource]) => {
    const basePath = commonPath(ofResource);
    const methods = ofResource.map((operation) => `${operation.name}: '${routeSource(operation, basePath)}', `);
    return `  ${resource}: ['${unnamedParameters(basePath)}', { ${methods.join('')} }],\n`;
  });
  const scopes = operations.map(({ id, scopes: names }) => `  readonly '${id}': readonly ${JSON.stringify(names)};\n`);
  const problems = operations.map(({ id, problems: codes }) => `  '${id}': ${JSON.stringify(codes)};\n`);
  return `import { expandScopeTable, type RouteTable } from '../core/route-table.ts';

/** All operations of the API. */
export const routes: RouteTable = {
${routes.join('')}};

/** Scopes of each operation. A token needs any one of these scopes; an empty list means that no scope is required. */
export const scopesOf: ScopesOf = /* @__PURE__ */ expandScopeTable({
${scopeTable(operations).join('')}});

/** The scopes in \`scopesOf\`. */
export type ScopesOf = {
${scopes.join('')}};

/** Problem codes of each operation, with their HTTP status. */
export type ProblemsOf = {
${problems.join('')}};
`;
}

function scopeTable(operations: readonly Operation[]): string[] {
  return [...Map.groupBy(operations, ({ resource }) => resource)].map(([resource, ofResource]) => {
    const byScopes = [...Map.groupBy(ofResource, ({ scopes }) => scopes.join(' '))];
    const names = byScopes.map(([scopes, withThem]) => `'${scopes}': '${withThem.map(({ name }) => name).join(' ')}', `);
    return `  ${resource}: { ${names.join('')} },\n`;
  });
}

/** Returns the leading path segments that all operations have in common. */
function commonPath(operations: readonly Operation[]): string {
  const [first = [], ...others] = operations.map(({ path }) => path.split('/'));
  const end = first.findIndex((segment, index) => others.some((other) => other[index] !== segment));
  return first.slice(0, end < 0 ? first.length : end).join('/');
}

function routeSource(operation: Operation, basePath: string): string {
  if (operation.idempotent !== (operation.method === 'POST'))
    throw new Error(`${operation.id} must accept an idempotency key if it is a POST, and only then`);
  const traits = {
    file: operation.takesFile,
    json: !operation.takesFile && operation.bodySchema !== undefined,
    query: operation.query.length > 0,
    dry: operation.dryRun,
    download: operation.givesFile,
    paginated: operation.paginated,
  };
  const presentTraits = Object.entries(traits).flatMap(([trait, has]) => (has ? [trait] : []));
  return [operation.method + unnamedParameters(operation.path.slice(basePath.length)), ...presentTraits].join(' ');
}

const unnamedParameters = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}');

function resourcesSource({ components }: OpenApiDocument, operations: Operation[], suffix: string): string {
  const schemas = Object.keys(components.schemas);
  const queries = operations
    .filter(({ query }) => query.length > 0)
    .map((operation) => `export interface ${queryName(operation)} extends Query<'${operation.id}'> {}\n`);
  const byResource = [...Map.groupBy(operations, ({ resource }) => resource)];
  const resources = byResource.map(
    ([resource, methods]) => `export interface ${capitalized(resource)}Resource {\n${methods.map(methodSource).join('')}}\n`,
  );
  const body = `
/** Query parameters that are \`undefined\` are not sent. */
type Query<Id extends keyof operations> = { [Name in keyof QueryOf<Id>]: QueryOf<Id>[Name] | undefined };
type QueryOf<Id extends keyof operations> = NonNullable<operations[Id]['parameters']['query']>;

${queries.join('')}
${resources.join('\n')}
/** Methods of the client, by resource. */
export interface Resources {
${byResource.map(([resource]) => `  readonly ${resource}: ${capitalized(resource)}Resource;\n`).join('')}}
`;
  const imports = [
    importOf(body, ['Call', 'CallOptions', 'DryRun', 'IfMatch', 'IfNoneMatch'], '../core/api-call.ts'),
    importOf(body, ['DownloadedFile'], '../core/downloaded-file.ts'),
    importOf(body, ['PagedCall'], '../core/paged-call.ts'),
    importOf(body, ['ProblemsOf'], `./routes${suffix}.gen.ts`),
    importOf(body, ['operations', ...schemas], `../schema/types${suffix}.gen.ts`),
    importOf(body, ['FileContent', 'UploadOptions'], '../core/upload-body.ts'),
  ];
  const exported = `export type { ${schemas.join(', ')} } from '../schema/types${suffix}.gen.ts';\n`;
  return `${imports.join('')}\n${exported}${body}`;
}

/** Returns an import declaration for the names that the source uses. */
function importOf(source: string, names: readonly string[], from: string): string {
  const used = names.filter((name) => new RegExp(`\\b${name}\\b`).test(source));
  return used.length === 0 ? '' : `import type { ${used.join(', ')} } from '${from}';\n`;
}

function methodSource(operation: Operation): string {
  const { id, name, summary, description, paginated, ifNoneMatch, method } = operation;
  const lines = [`${summary}.`, ...(description ? [description] : []), accessOf(operation)];
  const comment = `  /**\n${lines.map((line) => `   * ${line}\n`).join('')}   */\n`;
  const data = operation.givesFile ? 'DownloadedFile' : (operation.dataSchema ?? 'undefined');
  const signature = (options: string, result: string): string =>
    `  ${name}(${[...parametersOf(operation), options].join(', ')}): ${paginated ? 'PagedCall' : 'Call'}<${result}, ProblemsOf['${id}']>;\n`;
  const plain = comment + signature(`options?: ${optionsOf(operation)}`, data);
  if (!ifNoneMatch || method !== 'GET') return plain;
  return `${comment}${signature('options: CallOptions & Required<IfNoneMatch>', `${data} | undefined`)}${plain}`;
}

function accessOf({ needsToken, scopes }: Operation): string {
  if (!needsToken) return 'Requires no token.';
  return scopes.length === 0
    ? 'Requires a token with any scope.'
    : `Requires the scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`;
}

function parametersOf(operation: Operation): string[] {
  const { pathParameters, query, queryRequired, bodySchema, takesFile } = operation;
  return [
    ...pathParameters.map((parameter) => `${camelCase(parameter)}: number | string`),
    ...(takesFile ? ['file: FileContent'] : bodySchema ? [`body: ${bodySchema}`] : []),
    ...(query.length > 0 ? [`query${queryRequired ? '' : '?'}: ${queryName(operation)}`] : []),
  ];
}

const optionsOf = ({ method, takesFile, dryRun, ifMatch, ifNoneMatch }: Operation): string =>
  [
    takesFile ? 'UploadOptions' : 'CallOptions',
    ...(dryRun ? ['DryRun'] : []),
    ...(ifMatch ? ['IfMatch'] : []),
    ...(ifNoneMatch && method !== 'GET' ? ['IfNoneMatch'] : []),
  ].join(' & ');

const queryName = ({ resource, name }: Operation): string => `${capitalized(resource)}${capitalized(name)}Query`;
const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
const camelCase = (name: string): string => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

if (import.meta.main) {
  for (const [name, source] of Object.entries(renderCommittedGeneratedFiles()))
    await writeFile(new URL(`../generated/${name}`, import.meta.url), source);
}
