import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClientGenerator } from './client-generators.ts';
import { openApiGeneratorVersion, runOpenApiGenerator, toolsFolder } from './openapi-generator.ts';
import { run } from './run-command.ts';

const target = join(toolsFolder, 'rust-target');

export const openApiGeneratorForRust: ClientGenerator = {
  name: 'OpenAPI Generator',
  version: openApiGeneratorVersion,
  language: 'Rust',
  document: '3.1',
  commands: ['java', 'mvn', 'cargo'],
  extension: '.rs',
  generate: (folder, documentFile) => runOpenApiGenerator(folder, documentFile, ['-g', 'rust']),
  async compile(folder) {
    await cp(join(import.meta.dirname, 'rust', 'openapi-generator'), folder, { recursive: true });
    await run('cargo', ['build', '--quiet'], { cwd: folder, env: { CARGO_TARGET_DIR: target }, timeoutMs: 1_800_000 });
    await cp(join(target, 'debug', 'place-order'), join(folder, 'place-order'));
  },
  run: (folder, env) => run(join(folder, 'place-order'), [], { env }),
};
