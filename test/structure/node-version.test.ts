import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readLockedPackages, repositoryRoot } from '../../packaging/locked-and-production-packages.ts';

const run = promisify(execFile);
const manifest = z.object({ workspaces: z.array(z.string()).default([]), engines: z.unknown() });
const readManifest = async (folder: string): Promise<z.infer<typeof manifest>> =>
  manifest.parse(JSON.parse(await readFile(join(repositoryRoot, folder, 'package.json'), 'utf8')));
const top = await readManifest('');

/** Makes a process, but not its child processes, report Node.js 20. */
const asNode20 =
  'data:text/javascript,' +
  `Object.defineProperty(process.versions, 'node', { value: '20.20.2' });Object.defineProperty(process, 'version', { value: 'v20.20.2' });`;

type Output = { readonly code: number; readonly stdout: string; readonly stderr: string };

const runAsNode20 = (program: string, argv: readonly string[]): Promise<Output> =>
  run(process.execPath, ['--no-experimental-strip-types', '--import', asNode20, program, ...argv], { env: { PATH: '/usr/bin:/bin' } }).then(
    (output) => ({ code: 0, ...output }),
    (error: unknown) => z.object({ code: z.number(), stdout: z.string(), stderr: z.string() }).parse(error),
  );

describe('npm ci on Node.js 20', () => {
  // npm reads the `engines` of workspaces from their package.json, and all other `engines` from the lockfile
  test('finds no package that declares a Node.js version', async () => {
    const locked = [...(await readLockedPackages())].filter(([, { engines }]) => engines !== undefined).map(([path]) => path);
    expect(locked, 'run: npm run lockfile').toEqual([]);
    for (const folder of ['', ...top.workspaces]) expect([folder, (await readManifest(folder)).engines]).toEqual([folder, undefined]);
  });

  test('prints no warning', { timeout: 120_000 }, async () => {
    await using directory = await temporaryDirectory();
    const manifests = ['package.json', ...top.workspaces.map((folder) => `${folder}/package.json`)];
    for (const file of [...manifests, 'package-lock.json', '.npmrc', 'build-ignored-files.js', 'start-provided-node.js']) {
      await mkdir(join(directory.path, dirname(file)), { recursive: true });
      await cp(join(repositoryRoot, file), join(directory.path, file));
    }
    const npm = (await run('sh', ['-c', 'readlink -f "$(command -v npm)"'])).stdout.trim();
    const ci = ['--import', asNode20, npm, 'ci', '--dry-run', '--offline'];
    // npm must not use the current user's npm configuration
    const env = { PATH: '/usr/bin:/bin', HOME: directory.path };
    const { stdout, stderr } = await run(process.execPath, ci, { cwd: directory.path, env });
    expect(`${stdout}${stderr}`).not.toContain('npm warn');
    await writeFile(
      join(directory.path, 'cli/package.json'),
      '{ "name": "@mandate/cli", "version": "0.1.0", "engines": { "node": ">=24" } }',
    );
    expect((await run(process.execPath, ci, { cwd: directory.path, env })).stderr).toContain('EBADENGINE');
  });

  test('installs no package that reports the installation', async () => {
    const scarf = [...(await readLockedPackages())].filter(([path]) => path.endsWith('node_modules/@scarf/scarf'));
    expect(scarf.map(([, { name }]) => name)).toEqual(['@favware/skip-dependency']);
    const installed = await readFile(join(repositoryRoot, 'node_modules/@scarf/scarf/package.json'), 'utf8');
    expect(JSON.parse(installed)).toMatchObject({ name: '@favware/skip-dependency' });
    expect(installed).not.toMatch(/"(pre|post)?install"/);
  });
});

describe('a command of the repository on Node.js 20', () => {
  test.each(['mandate', 'mandate-server'])('%s runs with the Node.js package that npm ci has installed', async (name) => {
    const program = join(repositoryRoot, 'node_modules/.bin', name);
    expect(await runAsNode20(program, ['--version'])).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' });
    expect(await runAsNode20(program, ['nonsense'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("unknown command 'nonsense'"),
    });
  });

  test.each([
    ['mandate', 'cli/bin/mandate.js'],
    ['mandate-server', 'server/bin/mandate-server.js'],
  ])('%s prints the required Node.js version in one line if the Node.js package is not installed', async (name, file) => {
    await using directory = await temporaryDirectory();
    const copy = async (path: string): Promise<void> => {
      await mkdir(join(directory.path, dirname(path)), { recursive: true });
      await cp(join(repositoryRoot, path), join(directory.path, path));
    };
    for (const path of [file, 'start-provided-node.js', 'cli/main.ts', 'server/command/main.ts', 'package.json']) await copy(path);
    const stderr = `${name} needs Node.js 24 or later; this is v20.20.2.\n`;
    expect(await runAsNode20(join(directory.path, file), ['--version'])).toEqual({ code: 1, stdout: '', stderr });
  });
});

async function temporaryDirectory(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'mandate-node-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
