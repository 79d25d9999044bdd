import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const bin = (name: string): string => join(root, 'node_modules/.bin', name);
const resolve = createRequire(join(root, 'client-sdk/package.json')).resolve;
/** The oldest is brought by the test alone: a project with two has the `tsc` of either. */
const compilers = { '5.5': '5.5.4', '5.9': resolve('typescript/bin/tsc'), '7': join(root, 'node_modules/typescript/bin/tsc') } as const;

/** The output of a command, also of one that fails. */
async function outputOf(command: string, args: string[], cwd: string): Promise<{ readonly ok: boolean; readonly output: string }> {
  return run(command, args, { cwd, maxBuffer: 2 ** 24 }).then(
    ({ stdout, stderr }) => ({ ok: true, output: stdout + stderr }),
    (error: unknown) => ({ ok: false, output: Object(error).stdout + Object(error).stderr }),
  );
}
const fine = { ok: true, output: expect.any(String) };

describe.skipIf(process.env['MANDATE_PACKAGE_TESTS'] !== '1')('the package as it is published', { timeout: 120_000 }, () => {
  let place: string;
  let tarball: string;
  let oldest: string;

  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'mandate-package-'));
    const packed = await run('npm', ['pack', '--workspace', 'client-sdk', '--pack-destination', place], { cwd: root });
    tarball = join(place, packed.stdout.trim().split('\n').at(-1) ?? '');
    oldest = join(place, 'tools/node_modules/typescript/bin/tsc');
    await mkdir(join(place, 'tools'));
    const tools = [`typescript@${compilers['5.5']}`, 'pnpm@12.21.0'];
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', 'tools', ...tools], { cwd: place });
  }, 120_000);
  afterAll(() => rm(place, { recursive: true, force: true }));

  /** An empty project of somebody else's, with the package installed in it. */
  async function project(name: string, type: 'module' | 'commonjs', installer: 'npm' | 'pnpm' = 'npm'): Promise<string> {
    const directory = join(place, name);
    await mkdir(directory);
    await writeFile(join(directory, 'package.json'), JSON.stringify({ name, type, private: true }));
    const args = installer === 'npm' ? ['install', '--no-audit', '--no-fund', tarball] : ['add', tarball];
    expect(await outputOf(installer === 'npm' ? 'npm' : join(place, 'tools/node_modules/.bin/pnpm'), args, directory)).toEqual(fine);
    await cp(join(import.meta.dirname, 'consumer.ts'), join(directory, 'consumer.ts'));
    return directory;
  }

  test('packing leaves the repository as it was', async () => {
    const manifest = JSON.parse(await readFile(join(root, 'client-sdk/package.json'), 'utf8'));
    expect(manifest.exports['.']).toBe('./index.ts');
  });

  test('names the Node.js versions that it supports', async () => {
    const published = await run('tar', ['-xzOf', tarball, 'package/package.json']);
    expect(JSON.parse(published.stdout)).toMatchObject({ engines: { node: '>=22.18' } });
  });

  test('publint finds nothing to say', async () => {
    const { ok, output } = await outputOf(bin('publint'), ['run', tarball, '--strict'], root);
    process.stdout.write(output);
    expect({ ok, output }).toEqual({ ok: true, output: expect.stringContaining('All good!') });
  });

  test('attw finds no problem', async () => {
    const { ok, output } = await outputOf(bin('attw'), [tarball, '--profile', 'node16', '--no-color', '--no-emoji'], root);
    process.stdout.write(output);
    expect({ ok, output }).toEqual({ ok: true, output: expect.stringContaining('OK (CJS)') });
  });

  describe.each(['module', 'commonjs'] as const)('in a project of type %s', (type) => {
    let directory: string;
    beforeAll(async () => {
      directory = await project(`types-${type}`, type);
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
      'TypeScript %s compiles it with %s and the types of %s, libraries checked',
      async (_, __, ___, { compiler, options }) => {
        const compilerOptions = { ...options, target: 'es2022', strict: true, noEmit: true, skipLibCheck: false };
        await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
        const tsc = compiler === compilers['5.5'] ? oldest : compiler;
        expect(await outputOf(process.execPath, [tsc, '-p', '.'], directory)).toEqual({ ok: true, output: '' });
      },
    );
  });

  test.each([
    ['ESM, installed by npm', 'module', 'npm'],
    ['CommonJS, installed by npm', 'commonjs', 'npm'],
    ['ESM, installed by pnpm', 'module', 'pnpm'],
    ['CommonJS, installed by pnpm', 'commonjs', 'pnpm'],
  ] as const)('Node runs it as %s', async (_, type, installer) => {
    const directory = await project(`run-${type}-${installer}`, type, installer);
    const format = type === 'module' ? 'esm' : 'cjs';
    const outfile = join(directory, 'consumer.js');
    await build({ entryPoints: [join(directory, 'consumer.ts')], outfile, format });
    const load = type === 'module' ? `import('./consumer.js')` : `Promise.resolve(require('./consumer.js'))`;
    const script = `${load}.then(async ({ main, sameClass }) => console.log(await main(), await sameClass()))`;
    const { output } = await outputOf(process.execPath, ['-e', script], directory);
    expect(output.trim()).toBe('404 true mandate/orders/get/7 true');
  });

  test('a browser gets nothing of Node, of zod or of ts-rest, and little of anything', async () => {
    const directory = await project('browser', 'module');
    const bundled = async (contents: string) => {
      const stdin = { contents, resolveDir: directory };
      const result = await build({ stdin, bundle: true, minify: true, write: false, metafile: true, format: 'esm', platform: 'browser' });
      const code = result.outputFiles[0]?.text ?? '';
      expect(code).not.toMatch(/["']node:/);
      expect(Object.keys(result.metafile.inputs).filter((input) => /zod|ts-rest/.test(input))).toEqual([]);
      return gzipSync(code).length;
    };
    const client = `import { createClient } from '@mandate/client-sdk'; globalThis.createClient = createClient;`;
    const signIn = `import { browserSignIn } from '@mandate/client-sdk/authorization/browser'; globalThis.browserSignIn = browserSignIn;`;
    const sizes = { client: await bundled(client), 'client with sign-in': await bundled(client + signIn) };
    process.stdout.write(`as published, gzipped: ${JSON.stringify(sizes)}\n`);
    expect(sizes.client).toBeLessThanOrEqual(6_000);
    expect(sizes['client with sign-in']).toBeLessThanOrEqual(12_000);
  });

  test('Vite builds a page with it', async () => {
    const directory = await project('vite', 'module');
    await writeFile(join(directory, 'index.html'), '<!doctype html><script type="module" src="/main.ts"></script>');
    const main = `import { createClient } from '@mandate/client-sdk';
import { browserSignIn } from '@mandate/client-sdk/authorization/browser';
Object.assign(globalThis, { createClient, browserSignIn });`;
    await writeFile(join(directory, 'main.ts'), main);
    expect(await outputOf(bin('vite'), ['build'], directory)).toEqual(fine);
    const [script = ''] = await readdir(join(directory, 'dist/assets'));
    const code = await readFile(join(directory, 'dist/assets', script), 'utf8');
    expect(code).toContain('/api/v1/orders');
    expect(code).not.toMatch(/["']node:/);
    process.stdout.write(`with Vite, gzipped: ${gzipSync(code).length}\n`);
  });
});
