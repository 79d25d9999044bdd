import { accessSync, constants, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Caches the bytecode of all subsequently loaded modules, so that later starts are faster. Returns the cache directory, or `undefined` if
 * no directory is writable and therefore nothing is cached.
 */
export function enableModuleCompileCache(): string | undefined {
  const directory = [findNodeModulesCache(), findUserCache()].find((path) => path !== undefined && createWritableDirectory(path));
  if (directory !== undefined) enableCompileCache(directory);
  return directory;
}

/**
 * Returns the cache directory in the `node_modules` folder that contains this package, or in the repository's own `node_modules` folder if
 * the server runs from a clone. A user who can write to this folder could also change the code itself.
 */
function findNodeModulesCache(): string {
  const folder = /^.*[\\/]node_modules(?=[\\/])/.exec(import.meta.dirname)?.[0] ?? join(import.meta.dirname, '../../node_modules');
  return join(folder, '.cache/mandate');
}

/** Returns the current user's cache directory, for a package that another user installed, for example globally. */
function findUserCache(): string | undefined {
  try {
    return join(homedir(), process.platform === 'darwin' ? 'Library/Caches/mandate' : '.cache/mandate');
  } catch {
    return undefined; // the user has no home directory
  }
}

function createWritableDirectory(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
