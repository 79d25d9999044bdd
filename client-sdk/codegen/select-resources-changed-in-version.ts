import type { OpenApiDocument } from './openapi-types-and-operation-list.ts';

/** Returns the resources of `after` that differ from those of `before`, with the schemas and responses that these resources need. */
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
  const referenced = referencedComponents(after, paths);
  const select = <Component>(section: 'schemas' | 'responses', components: Readonly<Record<string, Component>> = {}) =>
    Object.fromEntries(Object.entries(components).filter(([name]) => referenced.has(`${section}/${name}`)));
  const { schemas, responses } = after.components;
  return {
    ...after,
    paths,
    components: { ...after.components, schemas: select('schemas', schemas), responses: select('responses', responses) },
  };
}

const resourceOf = (operationId: string): string | undefined => operationId.split('.')[0];

type Entry = { path: string; method: string; operation: OpenApiDocument['paths'][string][string] };

const entriesOf = ({ paths }: OpenApiDocument): Entry[] =>
  Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })));

const unversioned = (path: string): string => path.replace(/^\/api\/v\d+\//, '/');

/**
 * Keys that are ignored in the comparison, because clients do not depend on them. A discriminator contains the names of schemas, and the
 * comparison ignores names.
 */
const ignoredKeys = new Set(['example', 'examples', 'x-codeSamples', 'description', 'summary', 'discriminator']);

/** Serializes a node with all references resolved, so that nodes with equal content result in equal strings. */
const canonicalJson = (document: OpenApiDocument, node: unknown): string =>
  JSON.stringify(node, (key, value: unknown) => (ignoredKeys.has(key) ? undefined : (resolveReference(document, value)?.target ?? value)));

/** Returns the schema or response that a reference points to. */
function resolveReference({ components }: OpenApiDocument, node: unknown): { name: string; target: unknown } | undefined {
  if (typeof node !== 'object' || node === null || !('$ref' in node)) return undefined;
  const [, section, name = ''] = /^#\/components\/(schemas|responses)\/(.+)$/.exec(String(node.$ref)) ?? [];
  const targets = section === 'responses' ? components.responses : section === 'schemas' ? components.schemas : undefined;
  return targets && name in targets ? { name: `${section}/${name}`, target: targets[name] } : undefined;
}

function referencedComponents(document: OpenApiDocument, node: unknown, names = new Set<string>()): Set<string> {
  const reference = resolveReference(document, node);
  if (reference && !names.has(reference.name)) {
    names.add(reference.name);
    referencedComponents(document, reference.target, names);
  }
  if (typeof node === 'object' && node !== null) for (const value of Object.values(node)) referencedComponents(document, value, names);
  return names;
}
