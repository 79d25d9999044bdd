import type { ClientGenerator } from './client-generators.ts';
import { openApiGeneratorVersion, runOpenApiGenerator } from './openapi-generator.ts';

/** The client is generated but not compiled, because no package registry that the project uses contains the .NET SDK. */
export const openApiGeneratorForCSharp: ClientGenerator = {
  name: 'OpenAPI Generator',
  version: openApiGeneratorVersion,
  language: 'C#',
  document: '3.1',
  commands: ['java', 'mvn'],
  extension: '.cs',
  generate: (folder, documentFile) => runOpenApiGenerator(folder, documentFile, ['-g', 'csharp']),
};
