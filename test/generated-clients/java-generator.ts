import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClientGenerator } from './client-generators.ts';
import { openApiGeneratorVersion, runOpenApiGenerator } from './openapi-generator.ts';
import { run } from './run-command.ts';

export const openApiGeneratorForJava: ClientGenerator = {
  name: 'OpenAPI Generator',
  version: openApiGeneratorVersion,
  language: 'Java',
  document: '3.1',
  commands: ['java', 'javac', 'mvn'],
  extension: '.java',
  generate: (folder, documentFile) =>
    runOpenApiGenerator(folder, documentFile, [
      '-g',
      'java',
      '--library',
      'native',
      // with this library, the generator writes invalid code for unions that contain a list and for untyped query parameters
      '--schema-mappings',
      'Task_params_value=Object',
      '--additional-properties',
      'openApiNullable=false,supportUrlQuery=false,disallowAdditionalPropertiesIfNotPresent=false',
    ]),
  async compile(folder) {
    const sources = join(folder, 'generated', 'src', 'main', 'java');
    await cp(join(import.meta.dirname, 'java', 'PlaceOrder.java'), join(sources, 'PlaceOrder.java'));
    const libraries = [
      '-B',
      '-q',
      'dependency:copy-dependencies',
      '-DincludeScope=compile',
      `-DoutputDirectory=${join(folder, 'libraries')}`,
    ];
    await run('mvn', libraries, { cwd: join(folder, 'generated') });
    const files = (await readdir(sources, { recursive: true })).filter((name) => name.endsWith('.java'));
    const options = ['-nowarn', '-encoding', 'UTF-8', '-d', join(folder, 'classes'), '-cp', join(folder, 'libraries', '*')];
    await run('javac', [...options, ...files], { cwd: sources });
  },
  run: (folder, env) => run('java', ['-cp', `${join(folder, 'classes')}:${join(folder, 'libraries', '*')}`, 'PlaceOrder'], { env }),
};
