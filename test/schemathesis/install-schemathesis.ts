import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { python } from '../support/python.ts';

const run = promisify(execFile);
const requirements = join(import.meta.dirname, 'requirements.txt');

/**
 * Installs Schemathesis and its dependencies, with verified hashes, in a virtual environment in the temporary directory. The virtual
 * environment is kept between runs.
 * @returns the path of the virtual environment's Python interpreter
 * @throws if Python or pip is missing, or if pip cannot download the packages
 */
export async function installSchemathesis(): Promise<string> {
  const hash = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex');
  const directory = join(tmpdir(), `mandate-schemathesis-${hash.slice(0, 16)}`);
  const [interpreter, complete] = [join(directory, 'bin/python'), join(directory, 'complete')];
  if (existsSync(complete)) return interpreter;
  await rm(directory, { recursive: true, force: true });
  // Debian's `venv` module needs an additional package to install pip.
  await run(python, ['-m', 'venv', '--without-pip', directory]);
  const options = ['--quiet', '--require-hashes', '--requirement', requirements];
  await run(python, ['-m', 'pip', '--python', interpreter, 'install', ...options], { timeout: 300_000 });
  await writeFile(complete, '');
  return interpreter;
}
