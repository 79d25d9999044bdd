import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { assertAvailableInCi } from './assert-available-in-ci.ts';

/** Debian's Python interpreter, which can import the modules in Debian packages. */
export const python = '/usr/bin/python3';

export const pythonClientDirectory = join(import.meta.dirname, '../../clients/python');

/** Environment variables with which Python can import the client from this repository. */
export const pythonClientEnvironment = {
  PATH: process.env['PATH'],
  PYTHONPATH: join(pythonClientDirectory, 'src'),
  PYTHONDONTWRITEBYTECODE: '1',
};

/**
 * Returns whether Debian's Python can import a module. Without the module, tests that need it are skipped, except in CI, where they fail.
 */
export const hasPythonModule = (name: string): boolean =>
  assertAvailableInCi(`the Python module ${name}`, spawnSync(python, ['-c', `import ${name}`]).status === 0);
