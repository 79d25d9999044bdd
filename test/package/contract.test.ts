/** Uses the packed contract in a separate project. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createEmptyProject,
  packWorkspaces,
  publishedWorkspaces,
  repositoryRoot,
  runNpm,
  runProgram,
  type Tarballs,
} from './pack-and-install.ts';

const bin = (name: string): string => join(repositoryRoot, 'node_modules/.bin', name);

const consumer = `
import { contract, scopeNames, type Order } from '@mandate/contract';
import { formatAddressLines } from '@mandate/contract/addresses';
import { currencyExponent } from '@mandate/contract/currencies';
import { isJsonObject } from '@mandate/contract/json';
import { createOpenApiDocument } from '@mandate/contract/openapi';
import { convertToOpenApi30 } from '@mandate/contract/openapi-3.0';
import document from '@mandate/contract/openapi.json' with { type: 'json' };
import { createMcpTools } from '@mandate/contract/tools';

const total = ({ total: amount, currency }: Order): string => \`\${amount} \${currency}\`;
const path: string = contract.orders.create.path;
// @ts-expect-error -- the route does not exist
const unknownRoute = contract.orders.nothing;
void [unknownRoute, formatAddressLines, currencyExponent, createOpenApiDocument, convertToOpenApi30, createMcpTools];
console.log([path, scopeNames.length > 5, isJsonObject(document), typeof total].join(' '));
`;

describe.skipIf(process.env['MANDATE_PACKAGE_TESTS'] !== '1')('the published contract', { timeout: 120_000 }, () => {
  let directory: string;
  let tarballs: Tarballs;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'mandate-contract-'));
    tarballs = await packWorkspaces();
    await createEmptyProject(directory, [tarballs.contract]);
    await writeFile(join(directory, 'consumer.ts'), consumer);
  }, 300_000);
  afterAll(() => rm(directory, { recursive: true, force: true }));

  test('compiles with its declarations, including library checks, and runs as JavaScript', async () => {
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2023',
      lib: ['es2023', 'dom'],
      types: [],
      strict: true,
      skipLibCheck: false,
      outDir: 'out',
      rootDir: '.',
    };
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
    expect(await runProgram(bin('tsc'), ['-p', '.'], { cwd: directory })).toEqual({ code: 0, stdout: '', stderr: '' });
    const outcome = await runProgram(process.execPath, ['out/consumer.js'], { cwd: directory });
    expect(outcome).toEqual({ code: 0, stdout: '/api/v1/orders true true function\n', stderr: '' });
  });

  test('has source maps that lead to the sources', async () => {
    const script = `
      import { createMcpTools } from '@mandate/contract/tools';
      try { createMcpTools(null); } catch (error) { console.log(error.stack); }`;
    const { stdout } = await runProgram(process.execPath, ['--enable-source-maps', '--input-type=module', '-e', script], {
      cwd: directory,
    });
    expect(stdout).toMatch(/contract\/[\w/-]+\.ts:\d+/);
  });

  test.each(publishedWorkspaces)('publint reports no problem in %s', async (name) => {
    const { code, stdout, stderr } = await runProgram(bin('publint'), ['run', tarballs[name], '--strict'], { cwd: repositoryRoot });
    expect({ code, output: stdout + stderr }).toEqual({ code: 0, output: expect.stringContaining('All good!') });
  });

  test.each(publishedWorkspaces)('npm accepts %s in a dry run of publishing', async (name) => {
    const argv = ['publish', tarballs[name], '--dry-run', '--tag', 'latest'];
    const { code, stdout, stderr } = await runNpm('npm', argv, directory);
    expect({ code, output: stdout + stderr }).toEqual({ code: 0, output: expect.stringContaining(`+ @mandate/${name}@`) });
    expect(stderr).not.toContain('auto-corrected');
  });

  test('attw reports no problem for ESM', async () => {
    const argv = [tarballs.contract, '--profile', 'esm-only', '--no-color', '--no-emoji'];
    const { code, stdout, stderr } = await runProgram(bin('attw'), argv, { cwd: repositoryRoot });
    expect({ code, output: stdout + stderr }).toEqual({ code: 0, output: expect.stringContaining('OK') });
  });

  test.each(publishedWorkspaces)('the manifest of %s contains all fields that the registry shows', async (name) => {
    const { stdout } = await runProgram('tar', ['-xzOf', tarballs[name], 'package/package.json'], { cwd: directory });
    const root = JSON.parse(await readFile(join(repositoryRoot, 'package.json'), 'utf8'));
    expect(JSON.parse(stdout)).toMatchObject({
      version: root.version,
      license: 'MIT',
      homepage: root.homepage,
      bugs: root.bugs,
      repository: { ...root.repository, directory: name },
      keywords: expect.arrayContaining(['mandate']),
      publishConfig: { access: 'public', provenance: true },
      files: expect.any(Array),
      engines: { node: name === 'client-sdk' ? '>=20.19' : '>=22.18' },
    });
    expect(JSON.parse(stdout)).not.toHaveProperty('private');
    const files = (await runProgram('tar', ['-tzf', tarballs[name]], { cwd: directory })).stdout;
    for (const file of ['LICENSE', 'README.md']) expect(files.split('\n')).toContain(`package/${file}`);
  });
});
