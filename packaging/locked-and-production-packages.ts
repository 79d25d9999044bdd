import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { publishedWorkspaces } from './release-checks.ts';

export const repositoryRoot = join(import.meta.dirname, '..');

const names = z.record(z.string()).default({});
const locked = z.object({
  name: z.string().optional(),
  version: z.string().optional(),
  license: z.string().optional(),
  link: z.boolean().default(false),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  hasInstallScript: z.boolean().default(false),
  engines: z.unknown(),
  dependencies: names,
  optionalDependencies: names,
  peerDependencies: names,
});
export type LockedPackage = z.infer<typeof locked>;

/** Returns all packages that `npm ci` installs, keyed by path. */
export async function readLockedPackages(): Promise<ReadonlyMap<string, LockedPackage>> {
  const lockfile: unknown = JSON.parse(await readFile(join(repositoryRoot, 'package-lock.json'), 'utf8'));
  return new Map(Object.entries(z.object({ packages: z.record(locked) }).parse(lockfile).packages));
}

/**
 * Packages that are installed as part of a bundle. The bundles are the command-line client, and the console that is part of the server
 * package.
 */
const bundledPackages: Record<string, readonly string[]> = {
  cli: ['commander', 'open', '@modelcontextprotocol/server'],
  server: [
    '@mantine/core',
    '@mantine/hooks',
    '@mantine/notifications',
    '@mantine/spotlight',
    '@tanstack/react-query',
    'react',
    'react-dom',
    'react-router',
    'recharts',
  ],
};

/** Returns the packages that run in production, that is, the direct and indirect dependencies of the released workspaces, keyed by path. */
export function findProductionPackages(all: ReadonlyMap<string, LockedPackage>): Map<string, LockedPackage> {
  const packages = new Map<string, LockedPackage>();
  const visit = (path: string): void => {
    const entry = all.get(path);
    if (!entry || packages.has(path)) return;
    packages.set(path, entry);
    const dependencies = { ...entry.dependencies, ...entry.optionalDependencies, ...entry.peerDependencies };
    for (const name of [...Object.keys(dependencies), ...(bundledPackages[path] ?? [])]) {
      const at = resolvePackage(all, path, name);
      // The lockfile may lack optional and peer dependencies.
      if (at !== undefined) visit(at);
      else if (name in entry.dependencies) throw new Error(`${path} needs ${name}, which is not locked: run npm install`);
    }
  };
  for (const workspace of publishedWorkspaces) visit(workspace);
  for (const workspace of publishedWorkspaces) packages.delete(workspace);
  return packages;
}

/** Resolves a package as Node.js does, that is, next to the importing package or in a parent folder. */
function resolvePackage(all: ReadonlyMap<string, LockedPackage>, from: string, name: string): string | undefined {
  for (let folder = from; ;) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    const entry = all.get(path);
    if (entry) return entry.link ? entry.resolved : path;
    if (folder === '') return undefined;
    const above = folder.lastIndexOf('/node_modules/');
    folder = above === -1 ? '' : folder.slice(0, above);
  }
}

export const packageNameFromPath = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
