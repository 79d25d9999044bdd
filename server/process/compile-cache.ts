import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

/**
 * What is loaded from now on is compiled once and for all starts. It is kept beside the code, where whoever can write can change
 * the code itself; where there is no place to write to, it is compiled at each start.
 */
export const keepCompiled = (): void => void enableCompileCache(join(import.meta.dirname, '../../node_modules/.cache/mandate'));
