import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

/**
 * Caches the bytecode of all subsequently loaded modules, so that later starts are faster. The cache is next to the code: a user with write
 * access there could also change the code itself. If the directory is not writable, nothing is cached.
 */
export const enableModuleCompileCache = (): void => void enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/mandate'));
