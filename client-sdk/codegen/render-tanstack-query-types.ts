import type { Operation } from './openapi-types-and-operation-list.ts';

/** Returns the source code of the types that `query.ts` uses: the operations available as queries, infinite queries and mutations. */
export function renderTanStackQueryTypes(operations: Operation[]): string {
  // A download is a stream that can be read only once, so it cannot be cached.
  const cacheable = operations.filter(({ givesFile }) => !givesFile);
  const reads = cacheable.filter(({ method }) => method === 'GET');
  const parts = {
    Queries: [reads, (operation: Operation) => `QueryOf<${dataOf(operation)}>`],
    InfiniteQueries: [reads.filter(({ paginated }) => paginated), (operation: Operation) => `InfiniteQueryOf<${dataOf(operation)}>`],
    Mutations: [cacheable.filter(({ method }) => method !== 'GET'), mutationOf],
  } as const;
  const interfaces = Object.entries(parts).map(([name, [members, resultOf]]) => {
    const byResource = [...Map.groupBy(members, ({ resource }) => resource)];
    const resources = byResource.map(([resource, methods]) => {
      const lines = methods.map((method) => `    ${method.name}(${parametersOf(method).join(', ')}): ${resultOf(method)};\n`);
      return `  readonly ${resource}: {\n${lines.join('')}  };\n`;
    });
    return `export interface ${name} {\n${resources.join('')}}\n`;
  });
  const typesUsed = new Set(interfaces.join('').match(/\b[A-Z]\w+\b/g));
  const typesImportedElsewhere = new Set([
    'Queries',
    'InfiniteQueries',
    'Mutations',
    'QueryOf',
    'InfiniteQueryOf',
    'MutationOf',
    'FileContent',
    'CallOptions',
    'DryRun',
    'UploadOptions',
    'IfMatch',
    'IfNoneMatch',
  ]);
  const imported = [...typesUsed].filter((name) => !typesImportedElsewhere.has(name)).toSorted();
  return `import type { CallOptions, DryRun, IfMatch, IfNoneMatch } from '../core/api-call.ts';
import type { InfiniteQueryOf, MutationOf, QueryOf } from '../query/tanstack-query-option-types.ts';
import type { ${imported.join(', ')} } from './resources.gen.ts';
import type { FileContent, UploadOptions } from '../core/upload-body.ts';

${interfaces.join('\n')}`;
}

const dataOf = ({ dataSchema }: Operation): string => dataSchema ?? 'undefined';

/**
 * Returns the source code of a mutation's TypeScript type. The mutation's variables are the body and the query; path parameters are method
 * arguments.
 */
function mutationOf(operation: Operation): string {
  const body = operation.takesFile ? 'FileContent' : operation.bodySchema;
  const query = operation.query.length > 0 ? queryName(operation) : undefined;
  const variables = body && query ? `{ readonly body: ${body}; readonly query: ${query} }` : (body ?? query ?? 'void');
  return `MutationOf<${dataOf(operation)}, ${variables}>`;
}

function parametersOf(operation: Operation): string[] {
  const { pathParameters, query, queryRequired, method, takesFile, dryRun, ifMatch, ifNoneMatch } = operation;
  const path = pathParameters.map((parameter) => `${camelCase(parameter)}: number | string`);
  if (method === 'GET') return [...path, ...(query.length > 0 ? [`query${queryRequired ? '' : '?'}: ${queryName(operation)}`] : [])];
  const options = [
    takesFile ? 'UploadOptions' : 'CallOptions',
    ...(dryRun ? ['DryRun'] : []),
    ...(ifMatch ? ['IfMatch'] : []),
    ...(ifNoneMatch ? ['IfNoneMatch'] : []),
  ];
  return [...path, `options?: ${options.join(' & ')}`];
}

const queryName = ({ resource, name }: Operation): string => `${capitalized(resource)}${capitalized(name)}Query`;
const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
const camelCase = (name: string): string => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
