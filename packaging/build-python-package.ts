import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Debian's Python interpreter, which has the packages `python3-build`, `python3-setuptools` and `python3-wheel`. */
const python = '/usr/bin/python3';

const pythonClientDirectory = join(import.meta.dirname, '../clients/python');

const isSource = (path: string): boolean => !/\/dist$|egg-info$|__pycache__$/.test(path);

/**
 * Builds the source distribution and the wheel of the Python client from a copy of the sources, and writes both to a directory. Returns the
 * file names of both packages.
 */
export async function buildPythonPackage(output: string, version: string): Promise<{ readonly sdist: string; readonly wheel: string }> {
  const copy = await mkdtemp(join(tmpdir(), 'mandate-python-package-'));
  try {
    await cp(pythonClientDirectory, copy, { recursive: true, filter: isSource });
    await promisify(execFile)(python, ['-m', 'build', '--no-isolation', '--outdir', output, copy], { maxBuffer: 2 ** 24 });
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
  return { sdist: `mandate-client-${version}.tar.gz`, wheel: `mandate_client-${version}-py3-none-any.whl` };
}
