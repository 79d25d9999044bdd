/** File contents, keyed by path relative to the repository root. */
export type SourceFiles = ReadonlyMap<string, string>;

/**
 * Returns a message for each missing registration of a resource. The compiler or the server also rejects most of these omissions, but
 * reports them where the registration is used, not where it is missing.
 */
export function findMissingRegistrations(files: SourceFiles): string[] {
  return [
    ...findUnlistedContracts(files),
    ...findUndeclaredScopes(files),
    ...findUndeclaredEvents(files),
    ...findUnlistedRoutes(files),
    ...findUnlistedEntities(files),
    ...findUnlistedFolders(files),
    ...findUnannouncedResources(files),
  ];
}

const contractIndex = 'contract/index.ts';
const scopes = 'contract/protocol/scopes.ts';
const events = 'contract/resources/events/events.ts';
const resourceRoutes = 'server/app/resource-routes.ts';
const entities = 'server/schema/database-entities.ts';
const serverLayers = 'server-layers.ts';
const changelog = 'CHANGELOG.md';

const sourceOf = (files: SourceFiles, path: string): string => {
  const source = files.get(path);
  if (source === undefined) throw new Error(`${path} was not read`);
  return source;
};

const filesThatMatch = (files: SourceFiles, pattern: RegExp): [string, string][] => [...files].filter(([path]) => pattern.test(path));

/** Converts the path of a file in `server/` to the import path that other folders in `server/` use. */
const importPath = (path: string): string => path.replace(/^server\//, '../');

function findUnlistedContracts(files: SourceFiles): string[] {
  const index = sourceOf(files, contractIndex);
  return filesThatMatch(files, /^contract\/resources\//).flatMap(([path, source]) => {
    const [, routes] = /^export const (\w+) = defineResource\(/m.exec(source) ?? [];
    if (routes === undefined || index.includes(`: ${routes},`)) return [];
    const [, resource = 'name'] = /operationId: '(\w+)\./.exec(source) ?? [];
    return [`${contractIndex}: add "${resource}: ${routes}," to the list "resources", because ${path} declares these routes`];
  });
}

function findUndeclaredScopes(files: SourceFiles): string[] {
  const declared = sourceOf(files, scopes);
  return filesThatMatch(files, /^contract\/resources\//).flatMap(([path, source]) => {
    const lists = [...source.matchAll(/\baccess: \[([^\]]*)\]/g)].map(([, list = '']) => list);
    const names = new Set(lists.flatMap((list) => [...list.matchAll(/'([\w.]+)'/g)].map(([, name = '']) => name)));
    return [...names]
      .filter((name) => !declared.includes(`  '${name}': {`))
      .map((name) => `${scopes}: add the scope '${name}', because ${path} uses it`);
  });
}

function findUndeclaredEvents(files: SourceFiles): string[] {
  const declared = sourceOf(files, events);
  return filesThatMatch(files, /^server\/(?!events\/)/).flatMap(([path, source]) =>
    [...source.matchAll(/\brecordEvents?\(\w+, '(\w+)\.(\w+)'/g)].flatMap(([, subject = '', change = '']) => {
      if (new RegExp(String.raw`^  ${subject}: \{\s*changes: \[[^\]]*'${change}'`, 'm').test(declared)) return [];
      return [`${events}: add the change '${change}' of the subject "${subject}" to "eventSubjects", because ${path} records it`];
    }),
  );
}

function findUnlistedRoutes(files: SourceFiles): string[] {
  const routes = sourceOf(files, resourceRoutes);
  const [, list = ''] = /^const resources = \{\n(.*?)^\};/ms.exec(sourceOf(files, contractIndex)) ?? [];
  const resources = [...list.matchAll(/^ {2}(\w+): (\w+),$/gm)];
  if (resources.length === 0) throw new Error(`${contractIndex} has no list "resources"`);
  return resources.flatMap(([, resource = '', name = '']) => {
    if (routes.includes(` as ${resource} }`)) return [];
    const [file] = filesThatMatch(files, /^server\/.*routes\.ts$/).find(([, source]) => source.includes(`export const ${name} =`)) ?? [];
    return [
      `${resourceRoutes}: add "export { ${name} as ${resource} } from '${importPath(file ?? '../folder/routes.ts')}';", because ${contractIndex} lists ${resource}`,
    ];
  });
}

function findUnlistedEntities(files: SourceFiles): string[] {
  const exported = sourceOf(files, entities);
  return filesThatMatch(files, /^server\/.*\.entity\.ts$/).flatMap(([path, source]) =>
    [...source.matchAll(/^export (?:const (\w+) = defineEntity\(|class (\w+) extends schema\.class)/gm)].flatMap(
      ([, constant, className]) => {
        const entity = constant ?? className ?? '';
        if (new RegExp(String.raw`\b${entity}\b[^;]*'${importPath(path)}'`).test(exported)) return [];
        return [`${entities}: add "export { ${entity} } from '${importPath(path)}';"`];
      },
    ),
  );
}

function findUnlistedFolders(files: SourceFiles): string[] {
  const layers = sourceOf(files, serverLayers);
  const folders = new Set([...files.keys()].flatMap((path) => /^server\/([\w-]+)\/.*\.ts$/.exec(path)?.[1] ?? []));
  const unlisted = [...folders].filter((folder) => folder !== 'bin' && !layers.includes(`'${folder}'`));
  return unlisted.map(
    (folder) => `${serverLayers}: add '${folder}' to a layer, as "shop" if it belongs to the shop, otherwise as "common"`,
  );
}

function findUnannouncedResources(files: SourceFiles): string[] {
  const released = sourceOf(files, 'contract/baseline/v1.json');
  const text = sourceOf(files, changelog).toLowerCase();
  return filesThatMatch(files, /^contract\/resources\//).flatMap(([path, source]) => {
    const [, tag] = /= defineResource\('([^']+)'/.exec(source) ?? [];
    if (tag === undefined || released.includes(`"${tag}"`) || text.includes(tag.toLowerCase())) return [];
    return [`${changelog}: describe the new resource "${tag}" of ${path} for users`];
  });
}
