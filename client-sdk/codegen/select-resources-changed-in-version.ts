import type { OpenApiDocument } from './openapi-document.ts';

/** Returns the part of `after` that contains only the resources that differ from `before`, with the schemas that these resources need. */
export function selectResourcesChangedInVersion(before: OpenApiDocument, after: OpenApiDocument): OpenApiDocument {
  const known = new Set(
    entriesOf(before).map(({ path, method, operation }) => canonicalJson(before, [unversioned(path), method, operation])),
  );
  const isNew = ({ path, method, operation }: Entry): boolean => !known.has(canonicalJson(after, [unversioned(path), method, operation]));
  const changed = new Set(
    entriesOf(after)
      .filter(isNew)
      .map(({ operation }) => resourceOf(operation.operationId)),
  );
  const changedEntries = entriesOf(after).filter(({ operation }) => changed.has(resourceOf(operation.operationId)));
  const paths: Record<string, OpenApiDocument['paths'][string]> = {};
  for (const { path, method, operation } of changedEntries) paths[path] = { ...paths[path], [method]: operation };
  const schemas = Object.entries(after.components.schemas).filter(([name]) => referencedSchemas(after, paths).has(name));
  return { ...after, paths, components: { ...after.components, schemas: Object.fromEntries(schemas) } };
}

const resourceOf = (operationId: string): string | undefined => operationId.split('.')[0];

type Entry = { path: string; method: string; operation: OpenApiDocument['paths'][string][string] };

const entriesOf = ({ paths }: OpenApiDocument): Entry[] =>
  Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })));

const unversioned = (path: string): string => path.replace(/^\/api\/v\d+\//, '/');

/** Keys that are ignored in the comparison, because clients do not depend on them. */
const ignoredKeys = new Set(['example', 'examples', 'x-codeSamples', 'description', 'summary']);

/** Serializes a node with all references resolved, so that equal content has equal text. */
const canonicalJson = (document: OpenApiDocument, node: unknown): string =>
  JSON.stringify(node, (key, value: unknown) => (ignoredKeys.has(key) ? undefined : (resolveReference(document, value)?.schema ?? value)));

function resolveReference({ components }: OpenApiDocument, node: unknown): { name: string; schema: unknown } | undefined {
  if (typeof node !== 'object' || node === null || !('$ref' in node)) return undefined;
  const [, name = ''] = /^#\/components\/schemas\/(.+)$/.exec(String(node.$ref)) ?? [];
  return name in components.schemas ? { name, schema: components.schemas[name] } : undefined;
}

function referencedSchemas(document: OpenApiDocument, node: unknown, names = new Set<string>()): Set<string> {
  const reference = resolveReference(document, node);
  if (reference && !names.has(reference.name)) {
    names.add(reference.name);
    referencedSchemas(document, reference.schema, names);
  }
  if (typeof node === 'object' && node !== null) for (const value of Object.values(node)) referencedSchemas(document, value, names);
  return names;
}
