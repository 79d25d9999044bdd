import type { OpenApiDocument } from './openapi-document.ts';

/** Of a version of the API, only the resources that are not what they were in the version before, with the schemas they need. */
export function whatChanged(before: OpenApiDocument, after: OpenApiDocument): OpenApiDocument {
  const known = new Set(entriesOf(before).map(({ path, method, operation }) => written(before, [unversioned(path), method, operation])));
  const isNew = ({ path, method, operation }: Entry): boolean => !known.has(written(after, [unversioned(path), method, operation]));
  const changed = new Set(
    entriesOf(after)
      .filter(isNew)
      .map(({ operation }) => resourceOf(operation.operationId)),
  );
  const kept = entriesOf(after).filter(({ operation }) => changed.has(resourceOf(operation.operationId)));
  const paths: Record<string, OpenApiDocument['paths'][string]> = {};
  for (const { path, method, operation } of kept) paths[path] = { ...paths[path], [method]: operation };
  const schemas = Object.entries(after.components.schemas).filter(([name]) => reached(after, paths).has(name));
  return { ...after, paths, components: { ...after.components, schemas: Object.fromEntries(schemas) } };
}

const resourceOf = (operationId: string): string | undefined => operationId.split('.')[0];

type Entry = { path: string; method: string; operation: OpenApiDocument['paths'][string][string] };

const entriesOf = ({ paths }: OpenApiDocument): Entry[] =>
  Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })));

const unversioned = (path: string): string => path.replace(/^\/api\/v\d+\//, '/');

/** What clients do not notice, or is written anew anyway. */
const beside = new Set(['example', 'examples', 'x-codeSamples', 'description', 'summary']);

/** With every reference replaced by what it refers to, so that the same written twice is the same. */
const written = (document: OpenApiDocument, node: unknown): string =>
  JSON.stringify(node, (key, value: unknown) => (beside.has(key) ? undefined : (referredTo(document, value)?.schema ?? value)));

function referredTo({ components }: OpenApiDocument, node: unknown): { name: string; schema: unknown } | undefined {
  if (typeof node !== 'object' || node === null || !('$ref' in node)) return undefined;
  const [, name = ''] = /^#\/components\/schemas\/(.+)$/.exec(String(node.$ref)) ?? [];
  return name in components.schemas ? { name, schema: components.schemas[name] } : undefined;
}

function reached(document: OpenApiDocument, node: unknown, names = new Set<string>()): Set<string> {
  const reference = referredTo(document, node);
  if (reference && !names.has(reference.name)) {
    names.add(reference.name);
    reached(document, reference.schema, names);
  }
  if (typeof node === 'object' && node !== null) for (const value of Object.values(node)) reached(document, value, names);
  return names;
}
