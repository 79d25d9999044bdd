/** Checks the OpenAPI documents with Spectral, which is installed in an empty directory. `npm run check:openapi` runs Redocly. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOpenApi30Document, createOpenApiDocument } from '@mandate/contract/openapi';
import { createEmptyProject, runProgram } from './pack-and-install.ts';

const spectral = '@stoplight/spectral-cli@6.16.3';

const origin = 'https://shop.example';
const document = createOpenApiDocument(origin);
const documents: Readonly<Record<string, unknown>> = {
  'openapi.json': document,
  'openapi-v2.json': createOpenApiDocument(origin, 'v2'),
  'openapi-3.0.json': createOpenApi30Document(origin),
};

describe.skipIf(process.env['MANDATE_PACKAGE_TESTS'] !== '1')('Spectral', { timeout: 120_000 }, () => {
  let directory: string;
  const lint = async (file: string, content: unknown) => {
    await writeFile(join(directory, file), JSON.stringify(content));
    const argv = ['lint', file, '--ruleset', 'ruleset.yaml', '--fail-severity', 'hint', '--quiet', '--format', 'text'];
    return runProgram(join(directory, 'node_modules/.bin/spectral'), argv, { cwd: directory });
  };
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mandate-spectral-'));
    await createEmptyProject(directory, [spectral]);
    await writeFile(join(directory, 'ruleset.yaml'), 'extends: ["spectral:oas"]\n');
  }, 300_000);
  afterAll(() => rm(directory, { recursive: true, force: true }));

  test.each(Object.keys(documents))('reports no finding in %s', async (file) => {
    expect(await lint(file, documents[file])).toMatchObject({ code: 0, stdout: '' });
  });

  test('reports a document without a description', async () => {
    const { openapi, servers } = document;
    const { code, stdout } = await lint('changed.json', { openapi, servers, info: { title: 'Mandate', version: '1.0.0' }, paths: {} });
    expect([code, stdout]).toEqual([1, expect.stringContaining('info-description')]);
  });
});
