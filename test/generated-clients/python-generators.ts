import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClientGenerator } from './client-generators.ts';
import { openApiGeneratorVersion, runOpenApiGenerator } from './openapi-generator.ts';
import { createVirtualEnvironment } from './python-environment.ts';
import { run } from './run-command.ts';

const programs = join(import.meta.dirname, 'python');
const compile = (folder: string): Promise<void> =>
  run('python3', ['-m', 'compileall', '-q', join(folder, 'generated')]).then(() => undefined);

const runProgram = async (bin: string, name: string, folder: string, env: Readonly<Record<string, string>>): Promise<string> =>
  run(join(bin, 'python'), [join(programs, name, 'place_order.py')], {
    env: { ...env, PYTHONPATH: `${join(folder, 'generated')}:${programs}` },
  });

const requirementsOf = async (folder: string): Promise<string[]> =>
  (await readFile(join(folder, 'generated', 'requirements.txt'), 'utf8')).split('\n').flatMap((line) => line.replaceAll(' ', '') || []);

export const openApiGeneratorForPython: ClientGenerator = {
  name: 'OpenAPI Generator',
  version: openApiGeneratorVersion,
  language: 'Python',
  document: '3.1',
  commands: ['java', 'mvn', 'python3'],
  extension: '.py',
  generate: (folder, documentFile) =>
    runOpenApiGenerator(folder, documentFile, [
      '-g',
      'python',
      '--additional-properties',
      'disallowAdditionalPropertiesIfNotPresent=false',
    ]),
  compile,
  run: async (folder, env) =>
    runProgram(await createVirtualEnvironment('python-openapi-generator', await requirementsOf(folder)), 'openapi-generator', folder, env),
};

const openApiPythonClientVersion = '0.29.1';

/** The generated client needs `httpx`, `attrs` and `python-dateutil`, which the generator also needs. */
const createGeneratorEnvironment = (): Promise<string> =>
  createVirtualEnvironment(`openapi-python-client-${openApiPythonClientVersion}`, [
    `openapi-python-client==${openApiPythonClientVersion}`,
    'python-dateutil==2.9.0.post0',
  ]);

export const openApiPythonClient: ClientGenerator = {
  name: 'openapi-python-client',
  version: openApiPythonClientVersion,
  language: 'Python',
  document: '3.1',
  commands: ['python3'],
  extension: '.py',
  async generate(folder, documentFile) {
    const bin = await createGeneratorEnvironment();
    const output = join(folder, 'generated', 'mandate');
    await run('mkdir', [join(folder, 'generated')]);
    await run(join(bin, 'openapi-python-client'), ['generate', '--path', documentFile, '--output-path', output, '--meta', 'none'], {
      env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` },
    });
  },
  compile,
  run: async (folder, env) => runProgram(await createGeneratorEnvironment(), 'openapi-python-client', folder, env),
};
