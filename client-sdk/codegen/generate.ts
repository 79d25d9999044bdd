import { writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';
import { queriesSource } from './generate-queries.ts';
import { operationsOf, readOpenApiDocument, type OpenApiDocument, type Operation } from './openapi-document.ts';
import { whatChanged } from './version-differences.ts';

const heading = '// Written by codegen/generate.ts from the OpenAPI document of the contract. Do not edit.\n\n';

/** Examples are for the reference; beside the types they would only take room. */
const withoutExamples = (key: string, value: unknown): unknown =>
  ['example', 'examples', 'x-codeSamples'].includes(key) ? undefined : value;

/** Every generated file of this package, by name. */
export async function generatedFiles(): Promise<Record<string, string>> {
  const [v1, v2] = [await readOpenApiDocument('openapi.json'), await readOpenApiDocument('openapi-v2.json')];
  return { ...(await filesOf(v1, '')), ...(await filesOf(whatChanged(v1, v2), '-v2')) };
}

async function filesOf(document: OpenApiDocument, suffix: string): Promise<Record<string, string>> {
  const operations = operationsOf(document);
  // the payloads of webhooks have types of their own in `events.ts`
  const types = await openapiTS(JSON.stringify({ ...document, webhooks: undefined }, withoutExamples), {
    defaultNonNullable: false,
    silent: true,
  });
  return {
    [`types${suffix}.gen.ts`]: heading + astToString(types),
    [`routes${suffix}.gen.ts`]: heading + routesSource(operations),
    [`resources${suffix}.gen.ts`]: heading + resourcesSource(document, operations, suffix),
    ...(suffix === '' && { 'queries.gen.ts': heading + queriesSource(operations) }),
  };
}

function routesSource(operations: Operation[]): string {
  const routes = operations.map(({ id, method, path, query, dryRun, bodySchema, takesFile, givesFile, idempotent, paginated }) => {
    const traits = {
      file: takesFile,
      json: !takesFile && bodySchema !== undefined,
      query: query.length > 0,
      dry: dryRun,
      download: givesFile,
      idempotent,
      paginated,
    };
    const words = Object.entries(traits).flatMap(([trait, has]) => (has ? [trait] : []));
    return `  '${id}': '${[method, path.replaceAll(/\{\w+\}/g, '{}'), ...words].join(' ')}',\n`;
  });
  const scopes = operations.map(({ id, scopes: names }) => `  '${id}': ${JSON.stringify(names)},\n`);
  const problems = operations.map(({ id, problems: codes }) => `  '${id}': ${JSON.stringify(codes)};\n`);
  return `/** Every operation of the API in few bytes: method, path, and what else a client has to know of it. */
export const routes = {
${routes.join('')}} as const;

/** Any one of its scopes lets a token in to an operation; without any, no scope is asked for. */
export const scopesOf = {
${scopes.join('')}} as const;

/** The codes each operation can fail with, and the status of each. */
export type ProblemsOf = {
${problems.join('')}};
`;
}

function resourcesSource({ components }: OpenApiDocument, operations: Operation[], suffix: string): string {
  const schemas = Object.keys(components.schemas).map((name) => `export type ${name} = components['schemas']['${name}'];\n`);
  const queries = operations
    .filter(({ query }) => query.length > 0)
    .map((operation) => `export type ${queryName(operation)} = Query<'${operation.id}'>;\n`);
  const byResource = [...Map.groupBy(operations, ({ resource }) => resource)];
  const resources = byResource.map(
    ([resource, methods]) => `export interface ${capitalized(resource)}Resource {\n${methods.map(methodSource).join('')}}\n`,
  );
  const body = `${schemas.join('')}
/** What is \`undefined\` is left out. */
type Query<Id extends keyof operations> = { [Name in keyof QueryOf<Id>]: QueryOf<Id>[Name] | undefined };
type QueryOf<Id extends keyof operations> = NonNullable<operations[Id]['parameters']['query']>;

${queries.join('')}
${resources.join('\n')}
/** The methods of the client, by resource. */
export interface Resources {
${byResource.map(([resource]) => `  readonly ${resource}: ${capitalized(resource)}Resource;\n`).join('')}}
`;
  const imports = [
    importOf(body, ['Call', 'CallOptions', 'DryRun', 'IfMatch', 'IfNoneMatch'], '../core/call.ts'),
    importOf(body, ['DownloadedFile'], '../core/download.ts'),
    importOf(body, ['PagedCall'], '../core/paged-call.ts'),
    importOf(body, ['ProblemsOf'], `./routes${suffix}.gen.ts`),
    importOf(body, ['components', 'operations'], `./types${suffix}.gen.ts`),
    importOf(body, ['FileContent', 'UploadOptions'], '../core/upload.ts'),
  ];
  return `${imports.join('')}\n${body}`;
}

/** Of these names those that the source uses. */
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
  if (!needsToken) return 'Needs no token.';
  return scopes.length === 0 ? 'Needs a token with any scope.' : `Needs the scope ${scopes.map((scope) => `\`${scope}\``).join(' or ')}.`;
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
  for (const [name, source] of Object.entries(await generatedFiles()))
    await writeFile(new URL(`../generated/${name}`, import.meta.url), source);
}
