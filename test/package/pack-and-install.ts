import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';

const run = promisify(execFile);
export const repositoryRoot = join(import.meta.dirname, '../..');

/** Published workspaces, each listed after its dependencies. */
export const publishedWorkspaces = ['contract', 'server', 'client-sdk', 'cli'] as const;
export type Tarballs = Readonly<Record<(typeof publishedWorkspaces)[number], string>>;

let packed: Promise<Tarballs> | undefined;

/**
 * Packs every published workspace once for all test files. Packing replaces manifests, so no other test may pack at the same time. If
 * `MANDATE_RELEASE_DIRECTORY` is set, the tests use the packages that `npm run release` has written to this directory instead.
 */
export const packWorkspaces = (): Promise<Tarballs> => (packed ??= findReleasedTarballs() ?? packIntoTemporaryDirectory());

function findReleasedTarballs(): Promise<Tarballs> | undefined {
  const directory = process.env['MANDATE_RELEASE_DIRECTORY'];
  return directory === undefined ? undefined : findTarballs(join(repositoryRoot, directory));
}

async function findTarballs(directory: string): Promise<Tarballs> {
  const files = await readdir(directory);
  const tarball = (name: string): string => {
    const file = files.find((one) => one.startsWith(`mandate-${name}-`) && one.endsWith('.tgz'));
    if (file === undefined) throw new Error(`${directory} does not contain the package ${name}`);
    return join(directory, file);
  };
  return { contract: tarball('contract'), server: tarball('server'), 'client-sdk': tarball('client-sdk'), cli: tarball('cli') };
}

async function packIntoTemporaryDirectory(): Promise<Tarballs> {
  const directory = await mkdtemp(join(tmpdir(), 'mandate-tarballs-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const workspaces = publishedWorkspaces.flatMap((name) => ['--workspace', name]);
  await run('npm', ['pack', ...workspaces, '--pack-destination', directory], { cwd: repositoryRoot, maxBuffer: 2 ** 24 });
  return findTarballs(directory);
}

/** Creates a directory that contains only a manifest, and installs packages there. */
export async function createEmptyProject(directory: string, packages: readonly string[]): Promise<string> {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'package.json'), '{ "name": "empty", "private": true, "type": "module" }');
  await installPackages(directory, packages);
  return directory;
}

export async function installPackages(directory: string, packages: readonly string[]): Promise<void> {
  await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], { cwd: directory, maxBuffer: 2 ** 24 });
}

export type Outcome = { readonly code: number; readonly stdout: string; readonly stderr: string };
const failure = z.object({ code: z.number(), stdout: z.string(), stderr: z.string() });

/** Runs a program until it exits, without the caller's environment. */
type RunOptions = {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly uid?: number | undefined;
};

export const runProgram = (program: string, argv: readonly string[], { cwd, env = {}, uid }: RunOptions): Promise<Outcome> =>
  run(program, [...argv], { cwd, env: { PATH: searchPath, ...env }, timeout: 120_000, ...(uid !== undefined && { uid, gid: uid }) }).then(
    (output) => ({ code: 0, ...output }),
    (error: unknown) => failure.parse(error),
  );

/** Runs npm or npx with the caller's npm configuration. */
export const runNpm = (program: 'npm' | 'npx', argv: readonly string[], cwd: string): Promise<Outcome> =>
  runProgram(program, argv, { cwd, env: { ...process.env, PATH: searchPath } });

/** Returns the caller's npm configuration, for programs that otherwise run without the caller's environment. */
export const npmEnvironment = (): Record<string, string> => {
  const configuration = Object.entries(process.env).filter(([name]) => /^(?:home|npm_config_.*)$/i.test(name));
  return Object.fromEntries([...configuration.map(([name, value = '']) => [name, value] as const), ['PATH', searchPath]]);
};

/** Value of `PATH` that puts the Node.js version of this process first. */
export const searchPath = `${join(process.execPath, '..')}:${process.env['PATH'] ?? '/usr/bin:/bin'}`;

/** Returns a package's size on disk in megabytes (1,000,000 bytes), including its dependencies. */
export async function measureInstalledSize(directory: string): Promise<number> {
  const { stdout } = await run('du', ['-sk', join(directory, 'node_modules')]);
  return (Number.parseInt(stdout, 10) * 1024) / 1_000_000;
}

/** Returns the paths of all files below a directory, relative to the directory. */
export async function listFiles(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
}
