import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './run-command.ts';

/** Folder for downloaded tools and compiled dependencies, which are kept between runs. */
export const toolsFolder = join(tmpdir(), 'mandate-generated-clients');

export const openApiGeneratorVersion = '7.25.0';
const sha256 = '41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae';

/**
 * Generates a client with OpenAPI Generator. Without `disallowAdditionalPropertiesIfNotPresent=false`, clients in some languages would
 * reject the fields that a later version of the service adds.
 */
export async function runOpenApiGenerator(folder: string, documentFile: string, options: readonly string[]): Promise<void> {
  const words = ['generate', '-i', documentFile, '-o', join(folder, 'generated'), ...options];
  const sources = 'models,apis,supportingFiles,modelDocs=false,apiDocs=false,modelTests=false,apiTests=false';
  await run('java', ['-jar', await downloadOpenApiGenerator(), ...words, '--global-property', sources]);
}

/** Downloads the generator once, verifies its hash, and returns the path of the jar file. */
async function downloadOpenApiGenerator(): Promise<string> {
  const jar = join(toolsFolder, `openapi-generator-cli-${openApiGeneratorVersion}.jar`);
  if (!existsSync(jar)) {
    await mkdir(toolsFolder, { recursive: true });
    const artifact = `org.openapitools:openapi-generator-cli:${openApiGeneratorVersion}`;
    await run('mvn', ['-B', '-q', 'dependency:get', `-Dartifact=${artifact}`, '-Dtransitive=false']);
    await run('mvn', ['-B', '-q', '-o', 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${toolsFolder}`]);
  }
  const found = createHash('sha256')
    .update(await readFile(jar))
    .digest('hex');
  if (found !== sha256) throw new Error(`${jar} has an unexpected SHA-256 hash: ${found}`);
  return jar;
}
