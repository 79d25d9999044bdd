import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { toolsFolder } from './openapi-generator.ts';
import { run } from './run-command.ts';

/** Creates a virtual environment with the given packages once, and returns the folder that contains its programs. */
export async function createVirtualEnvironment(name: string, packages: readonly string[]): Promise<string> {
  const environment = join(toolsFolder, name);
  const bin = join(environment, 'bin');
  const stamp = join(environment, 'packages-installed');
  if (existsSync(stamp)) return bin;
  await run('python3', ['-m', 'venv', environment]);
  await run(join(bin, 'pip'), ['install', '--quiet', '--disable-pip-version-check', ...packages], { timeoutMs: 900_000 });
  await run('touch', [stamp]);
  return bin;
}
