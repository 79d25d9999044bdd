import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { globSync } from 'node:fs';

/** Maps each module path to the paths of the modules that it imports by relative path, as types or as values. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

const specifier = /(?:\bfrom\s+|\bimport\s*\(?\s*)'(\.[^']+\.[jt]s)'/g;

/** Reads the relative imports of all TypeScript files below `folder`, except migrations. */
export function readImports(root: string, folder: string): ImportGraph {
  const files = globSync(`${folder}/**/*.ts`, { cwd: root }).filter((file) => !/node_modules|\/dist\/|\/migrations\//.test(file));
  return new Map(
    files.map((file) => {
      const specifiers = [...readFileSync(join(root, file), 'utf8').matchAll(specifier)].map(([, path = '']) => path);
      return [file, new Set(specifiers.map((path) => normalize(join(dirname(file), path))))];
    }),
  );
}

/** Merges modules into folders, and omits imports within a folder. */
export function groupImports(imports: ImportGraph, folderOf: (file: string) => string): ImportGraph {
  const folders = new Map<string, Set<string>>();
  for (const [file, targets] of imports) {
    const folder = folderOf(file);
    const group = folders.get(folder) ?? new Set();
    for (const target of targets) if (folderOf(target) !== folder) group.add(folderOf(target));
    folders.set(folder, group);
  }
  return folders;
}

/** Returns one import cycle as a path that starts and ends with the same node, or undefined if there is no cycle. */
export function findCycle(graph: ImportGraph): readonly string[] | undefined {
  const finished = new Set<string>();
  const path: string[] = [];
  const visit = (node: string): readonly string[] | undefined => {
    if (finished.has(node)) return undefined;
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    path.push(node);
    for (const next of graph.get(node) ?? []) {
      const cycle = visit(next);
      if (cycle) return cycle;
    }
    path.pop();
    finished.add(node);
    return undefined;
  };
  for (const node of graph.keys()) {
    const cycle = visit(node);
    if (cycle) return cycle;
  }
  return undefined;
}
