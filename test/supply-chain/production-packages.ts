import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

export const root = join(import.meta.dirname, '../..');

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

/** Everything `npm ci` installs, by its path. */
export async function lockedPackages(): Promise<ReadonlyMap<string, LockedPackage>> {
  const lockfile: unknown = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  return new Map(Object.entries(z.object({ packages: z.record(locked) }).parse(lockfile).packages));
}

/** What is delivered: the server, the client and the command line, with all they need. */
const delivered = ['contract', 'server', 'client-sdk', 'cli'];
/** Is in the bundle of the command line, whose other packages are those of the server. */
const bundled: Record<string, readonly string[]> = { cli: ['commander', 'open', '@modelcontextprotocol/server'] };

/** The packages that run in production, by path: those of the workspaces that are delivered and, in turn, of these. */
export function productionPackages(all: ReadonlyMap<string, LockedPackage>): Map<string, LockedPackage> {
  const found = new Map<string, LockedPackage>();
  const visit = (path: string): void => {
    const entry = all.get(path);
    if (!entry || found.has(path)) return;
    found.set(path, entry);
    const wanted = { ...entry.dependencies, ...entry.optionalDependencies, ...entry.peerDependencies };
    for (const name of [...Object.keys(wanted), ...(bundled[path] ?? [])]) {
      const at = placeOf(all, path, name);
      // an optional one may be locked for no platform
      if (at !== undefined) visit(at);
      else if (name in entry.dependencies) throw new Error(`${path} needs ${name}, which is not locked: run npm install`);
    }
  };
  for (const workspace of delivered) visit(workspace);
  for (const workspace of delivered) found.delete(workspace);
  return found;
}

/** Where Node finds a package: beside whoever asks, or in a folder above. */
function placeOf(all: ReadonlyMap<string, LockedPackage>, from: string, name: string): string | undefined {
  for (let folder = from; ;) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    const entry = all.get(path);
    if (entry) return entry.link ? entry.resolved : path;
    if (folder === '') return undefined;
    const above = folder.lastIndexOf('/node_modules/');
    folder = above === -1 ? '' : folder.slice(0, above);
  }
}

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
