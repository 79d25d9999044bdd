import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClientGenerator } from './client-generators.ts';
import { openApiGeneratorVersion, runOpenApiGenerator } from './openapi-generator.ts';
import { run } from './run-command.ts';

const programs = join(import.meta.dirname, 'go');
const moduleName = 'mandate.example/clients';
const oapiCodegenVersion = 'v2.8.2';

/** Compiles the generated package `mandate` and the program in one module, with the module versions that the generated code needs. */
async function compile(folder: string, program: string, modules: readonly string[]): Promise<void> {
  await rm(join(folder, 'generated', 'go.mod'), { force: true });
  await rm(join(folder, 'generated', 'go.sum'), { force: true });
  await cp(join(folder, 'generated'), join(folder, 'mandate'), { recursive: true });
  await cp(join(programs, program), folder, { recursive: true });
  await cp(join(programs, 'client_credentials.go'), join(folder, 'client_credentials.go'));
  await writeFile(join(folder, 'go.mod'), `module ${moduleName}\n\ngo 1.25\n`);
  for (const module of modules) await run('go', ['get', module], { cwd: folder });
  await run('go', ['build', '-o', 'place-order', '.'], { cwd: folder });
}

const runProgram = (folder: string, env: Readonly<Record<string, string>>): Promise<string> =>
  run(join(folder, 'place-order'), [], { env });

export const openApiGeneratorForGo: ClientGenerator = {
  name: 'OpenAPI Generator',
  version: openApiGeneratorVersion,
  language: 'Go',
  document: '3.1',
  commands: ['java', 'mvn', 'go'],
  extension: '.go',
  generate: (folder, documentFile) =>
    runOpenApiGenerator(folder, documentFile, [
      '-g',
      'go',
      '--package-name',
      'mandate',
      '--additional-properties',
      'disallowAdditionalPropertiesIfNotPresent=false',
    ]),
  compile: (folder) => compile(folder, 'openapi-generator', ['gopkg.in/validator.v2@v2.0.1', 'golang.org/x/oauth2@v0.27.0']),
  run: runProgram,
};

export const oapiCodegen: ClientGenerator = {
  name: 'oapi-codegen',
  version: oapiCodegenVersion.slice(1),
  language: 'Go',
  document: '3.1',
  commands: ['go'],
  extension: '.go',
  async generate(folder, documentFile) {
    await mkdir(join(folder, 'generated'));
    const output = join(folder, 'generated', 'mandate.gen.go');
    const tool = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${oapiCodegenVersion}`;
    await run('go', ['run', tool, '-package', 'mandate', '-generate', 'models,client,skip-prune', '-o', output, documentFile]);
  },
  compile: (folder) => compile(folder, 'oapi-codegen', ['github.com/oapi-codegen/runtime@v1.9.0']),
  run: runProgram,
};
