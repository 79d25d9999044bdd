import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { CommandSpec, Schema } from '../contract-commands/command-specification.ts';

/** As much of the OpenAPI document as commands are made from. */
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, RawSchema>>;
    readonly securitySchemes: {
      readonly oauth2: { readonly flows: { readonly authorizationCode: { readonly scopes: Record<string, string> } } };
    };
  };
};
type Operation = {
  readonly operationId: string;
  readonly 'x-internal'?: boolean;
  readonly summary: string;
  readonly tags: readonly [string];
  readonly description?: string;
  readonly parameters?: readonly { name: string; in: string; description?: string; required?: boolean; schema: RawSchema }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
  readonly security: readonly { readonly oauth2?: readonly string[] }[];
};
type Content = Readonly<Record<string, { readonly schema: RawSchema }>>;
type RawSchema = Omit<Schema, 'type' | 'items' | 'properties' | 'additionalProperties'> & {
  readonly $ref?: string;
  readonly 'x-open-enum'?: boolean;
  readonly 'x-null-in-replay'?: string;
  readonly oneOf?: readonly unknown[];
  readonly type?: string | readonly string[];
  readonly items?: RawSchema;
  readonly properties?: Readonly<Record<string, RawSchema>>;
  readonly additionalProperties?: boolean | RawSchema;
};

const known = new Set(
  '$ref type description enum minimum maximum minLength maxLength pattern format minItems maxItems items properties required additionalProperties default deprecated oneOf x-open-enum x-null-in-replay'.split(
    ' ',
  ),
);

export async function generatedCommands(): Promise<string> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own document, kept valid by its own checks
  const document = JSON.parse(await readFile(new URL('../../contract/openapi/openapi.json', import.meta.url), 'utf8')) as Document;
  const specs = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      operation['x-internal'] ? [] : [commandSpec(document, method, path, operation)],
    ),
  );
  return `// Written by build/generate-commands.ts from the OpenAPI document of the contract. Do not edit.

import type { CommandSpec } from './command-specification.ts';

export const commandSpecs: readonly CommandSpec[] = [
${specs.map((spec) => `  ${JSON.stringify(spec)},\n`).join('')}];

/** Every scope there is, in the words that people agree to. */
export const scopeSummaries: Readonly<Record<string, string>> = ${JSON.stringify(document.components.securitySchemes.oauth2.flows.authorizationCode.scopes)};
`;
}

/** The tools of `mandate mcp`, as the contract prints them. */
export async function generatedTools(): Promise<string> {
  const print = fileURLToPath(new URL('../../contract/mcp/print-mcp-tools.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [print], { maxBuffer: 10_000_000 });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own program, kept true by the compiler
  const tools = JSON.parse(stdout) as readonly unknown[];
  return `// Written by build/generate-commands.ts from the tools of the contract. Do not edit.

import type { Tool } from './tool.ts';

export const tools: readonly Tool[] = [
${tools.map((tool) => `  ${JSON.stringify(tool)},\n`).join('')}];
`;
}

function commandSpec(document: Document, method: string, path: string, operation: Operation): CommandSpec {
  const { operationId, tags, summary, description, parameters = [], requestBody, responses, security } = operation;
  const [group = '', name = ''] = operationId.split('.').map(kebabCase);
  const within = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const schemaOf = (schema: RawSchema): Schema => resolved(document, schema);
  const described = (parameter: (typeof parameters)[number]): Schema => ({
    ...schemaOf(parameter.schema),
    ...(parameter.description !== undefined && { description: parameter.description }),
  });
  const body = requestBody?.content['application/json']?.schema;
  const result = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content?.['application/json']?.schema;
  const item = result && listedItem(schemaOf(result));
  return {
    operationId,
    group,
    name,
    tag: tags[0],
    method: method.toUpperCase(),
    path,
    summary,
    ...(description !== undefined && { description }),
    scopes: security.flatMap(({ oauth2 = [] }) => oauth2),
    idempotent: within('header').some((parameter) => parameter.name === 'Idempotency-Key'),
    ...(within('header').some((parameter) => parameter.name === 'If-Match') && { ifMatch: true }),
    paginated: within('query').some((parameter) => parameter.name === 'cursor'),
    pathParameters: within('path').map((parameter) => ({ name: parameter.name, schema: described(parameter) })),
    query: {
      type: ['object'],
      properties: Object.fromEntries(within('query').map((parameter) => [parameter.name, described(parameter)])),
      required: within('query').flatMap((parameter) => (parameter.required ? [parameter.name] : [])),
      additionalProperties: false,
    },
    ...(body && { body: schemaOf(body) }),
    ...(result && secretIn(document, result)),
    fields: item ? leavesOf(item) : [],
  };
}

/** The field of a result that is `null` in a replay. */
function secretIn(document: Document, schema: RawSchema): Pick<CommandSpec, 'secret'> {
  const { properties = {} } = document.components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? {};
  const [secret] = Object.entries(properties).flatMap(([field, { 'x-null-in-replay': recovery }]) =>
    recovery === undefined ? [] : [{ field, recovery }],
  );
  return secret ? { secret } : {};
}

/** Of a list, what it lists. */
const listedItem = (schema: Schema): Schema => schema.properties?.['data']?.items ?? schema;

const leavesOf = (schema: Schema): string[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, property]) => [
    name,
    ...(property.properties ? leavesOf(property).map((leaf) => `${name}.${leaf}`) : []),
  ]);

function resolved(document: Document, schema: RawSchema): Schema {
  const { $ref, type, items, properties, additionalProperties, 'x-open-enum': _, 'x-null-in-replay': __, ...rest } = schema;
  for (const keyword of Object.keys(schema)) if (!known.has(keyword)) throw new Error(`no command knows the keyword ${keyword}`);
  if ($ref !== undefined) {
    const target = document.components.schemas[$ref.split('/').at(-1) ?? ''];
    if (!target) throw new Error(`${$ref} leads nowhere`);
    return { ...resolved(document, target), ...rest };
  }
  // Only results have alternatives, and of those nothing but the names is needed.
  if (type === undefined && schema.oneOf) return { type: ['string', 'number', 'boolean', 'array'] };
  if (type === undefined) throw new Error('a schema without a type');
  return {
    type: typeof type === 'string' ? [type] : type,
    ...rest,
    ...(items && { items: resolved(document, items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, resolved(document, property)])),
    }),
    ...(additionalProperties === false && { additionalProperties }),
    // `{}` allows anything, and says nothing of it
    ...(typeof additionalProperties === 'object' &&
      Object.keys(additionalProperties).length > 0 && { additionalProperties: resolved(document, additionalProperties) }),
  };
}

const kebabCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

if (import.meta.main) {
  await writeFile(new URL('../contract-commands/commands.gen.ts', import.meta.url), await generatedCommands());
  await writeFile(new URL('../mcp/tools.gen.ts', import.meta.url), await generatedTools());
  // Only now are there commands to build.
  const { generatedCompletion } = await import('./generate-completion.ts');
  await writeFile(new URL('../completion/completion.gen.ts', import.meta.url), await generatedCompletion());
}
