import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packWorkspaces } from './pack-and-install.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const bin = (name: string): string => join(root, 'node_modules/.bin', name);
const resolve = createRequire(join(root, 'client-sdk/package.json')).resolve;
/** The test installs the oldest TypeScript version separately, because a project can have only one version of `tsc`. */
const compilers = { '5.4': '5.4.5', '5.9': resolve('typescript/bin/tsc'), '7': join(root, 'node_modules/typescript/bin/tsc') } as const;

/** Runs a command and returns its output, even if the command fails. */
async function runCommand(command: string, args: string[], cwd: string): Promise<{ readonly ok: boolean; readonly output: string }> {
  return run(command, args, { cwd, maxBuffer: 2 ** 24 }).then(
    ({ stdout, stderr }) => ({ ok: true, output: stdout + stderr }),
    (error: unknown) => ({ ok: false, output: Object(error).stdout + Object(error).stderr }),
  );
}
const success = { ok: true, output: expect.any(String) };

describe.skipIf(process.env['MANDATE_PACKAGE_TESTS'] !== '1')('the published package', { timeout: 120_000 }, () => {
  let workDirectory: string;
  let tarball: string;
  let oldest: string;

  beforeAll(async () => {
    workDirectory = await mkdtemp(join(tmpdir(), 'mandate-package-'));
    tarball = (await packWorkspaces())['client-sdk'];
    oldest = join(workDirectory, 'tools/node_modules/typescript/bin/tsc');
    await mkdir(join(workDirectory, 'tools'));
    const tools = [`typescript@${compilers['5.4']}`, 'pnpm@12.21.0'];
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', 'tools', ...tools], { cwd: workDirectory });
  }, 300_000);
  afterAll(() => rm(workDirectory, { recursive: true, force: true }));

  /** Creates an empty project and installs the package in it. */
  async function createProject(name: string, type: 'module' | 'commonjs', installer: 'npm' | 'pnpm' = 'npm'): Promise<string> {
    const directory = join(workDirectory, name);
    await mkdir(directory);
    await writeFile(join(directory, 'package.json'), JSON.stringify({ name, type, private: true }));
    const args = installer === 'npm' ? ['install', '--no-audit', '--no-fund', tarball] : ['add', tarball];
    expect(await runCommand(installer === 'npm' ? 'npm' : join(workDirectory, 'tools/node_modules/.bin/pnpm'), args, directory)).toEqual(
      success,
    );
    await cp(join(import.meta.dirname, 'consumer.ts'), join(directory, 'consumer.ts'));
    return directory;
  }

  test('packing does not change the repository', async () => {
    const manifest = JSON.parse(await readFile(join(root, 'client-sdk/package.json'), 'utf8'));
    expect(manifest.exports['.']).toBe('./index.ts');
  });

  test('specifies the supported Node.js versions', async () => {
    const published = await run('tar', ['-xzOf', tarball, 'package/package.json']);
    expect(JSON.parse(published.stdout)).toMatchObject({
      engines: { node: '>=20.19' },
      peerDependenciesMeta: { react: { optional: true } },
    });
  });

  test('publint reports no problem', async () => {
    const { ok, output } = await runCommand(bin('publint'), ['run', tarball, '--strict'], root);
    process.stdout.write(output);
    expect({ ok, output }).toEqual({ ok: true, output: expect.stringContaining('All good!') });
  });

  test('attw reports no problem', async () => {
    const { ok, output } = await runCommand(bin('attw'), [tarball, '--profile', 'node16', '--no-color', '--no-emoji'], root);
    process.stdout.write(output);
    expect({ ok, output }).toEqual({ ok: true, output: expect.stringContaining('OK (CJS)') });
  });

  describe.each(['module', 'commonjs'] as const)('in a project of type %s', (type) => {
    let directory: string;
    beforeAll(async () => {
      directory = await createProject(`types-${type}`, type);
      for (const name of ['@types/node', 'undici-types'])
        await cp(join(root, 'node_modules', name), join(directory, 'node_modules', name), { recursive: true });
    }, 120_000);

    const environments = [
      { module: 'node16', moduleResolution: 'node16', lib: ['es2022', 'dom', 'dom.iterable'], types: [] },
      { module: 'nodenext', moduleResolution: 'nodenext', lib: ['es2022', 'dom', 'dom.iterable'], types: [] },
      { module: 'nodenext', moduleResolution: 'nodenext', lib: ['es2023'], types: ['node'] },
      ...(type === 'module' ? [{ module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom', 'dom.iterable'], types: [] }] : []),
    ];
    const matrix = Object.entries(compilers).flatMap(([version, compiler]) =>
      environments.map((options) => [version, options.moduleResolution, options.types[0] ?? 'the DOM', { compiler, options }] as const),
    );
    test.each(matrix)(
      'TypeScript %s compiles it with %s and the types of %s, including library checks',
      async (_, __, ___, { compiler, options }) => {
        const compilerOptions = { ...options, target: 'es2022', strict: true, noEmit: true, skipLibCheck: false };
        await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
        const tsc = compiler === compilers['5.4'] ? oldest : compiler;
        expect(await runCommand(process.execPath, [tsc, '-p', '.'], directory)).toEqual({ ok: true, output: '' });
      },
    );
  });

  test.each([
    ['ESM, installed by npm', 'module', 'npm'],
    ['CommonJS, installed by npm', 'commonjs', 'npm'],
    ['ESM, installed by pnpm', 'module', 'pnpm'],
    ['CommonJS, installed by pnpm', 'commonjs', 'pnpm'],
  ] as const)('Node runs it as %s', async (_, type, installer) => {
    const directory = await createProject(`run-${type}-${installer}`, type, installer);
    const format = type === 'module' ? 'esm' : 'cjs';
    const outfile = join(directory, 'consumer.js');
    await build({ entryPoints: [join(directory, 'consumer.ts')], outfile, format });
    const load = type === 'module' ? `import('./consumer.js')` : `Promise.resolve(require('./consumer.js'))`;
    const script = `${load}.then(async ({ main, sameClass }) => console.log(await main(), await sameClass()))`;
    const { output } = await runCommand(process.execPath, ['-e', script], directory);
    expect(output.trim()).toBe('404 true mandate/orders/get/7 true');
  });

  test('a browser bundle is small and contains no Node modules, zod or ts-rest', async () => {
    const directory = await createProject('browser', 'module');
    const bundleSize = async (contents: string) => {
      const stdin = { contents, resolveDir: directory };
      const result = await build({ stdin, bundle: true, minify: true, write: false, metafile: true, format: 'esm', platform: 'browser' });
      const code = result.outputFiles[0]?.text ?? '';
      expect(code).not.toMatch(/["']node:/);
      expect(Object.keys(result.metafile.inputs).filter((input) => /zod|ts-rest/.test(input))).toEqual([]);
      return gzipSync(code).length;
    };
    const client = `import { createClient } from '@mandate/client-sdk'; globalThis.createClient = createClient;`;
    const signIn = `import { browserSignIn } from '@mandate/client-sdk/authorization/browser'; globalThis.browserSignIn = browserSignIn;`;
    const sizes = { client: await bundleSize(client), 'client with sign-in': await bundleSize(client + signIn) };
    process.stdout.write(`bundle sizes, gzipped: ${JSON.stringify(sizes)}\n`);
    expect(sizes.client).toBeLessThanOrEqual(6_150);
    expect(sizes['client with sign-in']).toBeLessThanOrEqual(12_400);
  });

  test('Vite builds a page that uses it', async () => {
    const directory = await createProject('vite', 'module');
    await writeFile(join(directory, 'index.html'), '<!doctype html><script type="module" src="/main.ts"></script>');
    const main = `import { createClient } from '@mandate/client-sdk';
import { browserSignIn } from '@mandate/client-sdk/authorization/browser';
Object.assign(globalThis, { createClient, browserSignIn });`;
    await writeFile(join(directory, 'main.ts'), main);
    expect(await runCommand(bin('vite'), ['build'], directory)).toEqual(success);
    const [script = ''] = await readdir(join(directory, 'dist/assets'));
    const code = await readFile(join(directory, 'dist/assets', script), 'utf8');
    expect(code).toContain('/api/v1/orders');
    expect(code).not.toMatch(/["']node:/);
    process.stdout.write(`with Vite, gzipped: ${gzipSync(code).length}\n`);
  });
});
