import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Debian's Python interpreter, which can import the modules in Debian packages. */
export const python = '/usr/bin/python3';

export const pythonClientDirectory = join(import.meta.dirname, '../../clients/python');

/** Environment in which Python finds the client in this repository. */
export const pythonClientEnvironment = {
  PATH: process.env['PATH'],
  PYTHONPATH: join(pythonClientDirectory, 'src'),
  PYTHONDONTWRITEBYTECODE: '1',
};

export const hasPythonModule = (name: string): boolean => spawnSync(python, ['-c', `import ${name}`]).status === 0;
