/**
 * `npm run release` checks that the current version can be released, and writes the release to `dist/release`. The release consists of the
 * npm packages, the Python package, and a bill of materials. The command then publishes the npm packages to the registry as a dry run.
 *
 *   -- --short               runs only the checks, without building the release
 *   -- --publish             publishes the packages after all checks
 *   -- --set-version 0.2.0   sets the version of all workspaces, before the checks of a new release
 */
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { keepComponents, listReleasedComponents } from './bill-of-materials.ts';
import { buildPythonPackage } from './build-python-package.ts';
import { findReleaseProblems, publishedWorkspaces, readManifest } from './release-checks.ts';

const root = join(import.meta.dirname, '..');
const output = join(root, 'dist/release');

class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
}

/** Runs a program, and returns its standard output if `capture` is set. */
function run(program: string, argv: readonly string[], capture = false): string {
  const { status, stdout } = spawnSync(program, argv, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', capture ? 'pipe' : 'inherit', 'inherit'],
  });
  if (status !== 0) throw new ReleaseError(`failed: ${program} ${argv.join(' ')}`);
  return stdout ?? '';
}

const report = (text: string): void => void process.stdout.write(`\n== ${text}\n`);

async function checkRelease(): Promise<void> {
  report('versions, manifests, changelog and image definition');
  const problems = await findReleaseProblems(root);
  if (problems.length > 0) throw new ReleaseError(problems.join('\n'));
  report('compatibility with the last release');
  run('npm', ['run', '-s', 'contract:compatible']);
}

/** Writes the packages and the bill of materials. Returns the files of the npm packages in the order in which they must be published. */
async function buildRelease(version: string): Promise<string[]> {
  await rm(output, { recursive: true, force: true });
  await mkdir(output, { recursive: true });
  report('packages');
  // The log level suppresses the lists of packed files, because the dry run of `npm publish` also prints these lists.
  const packOptions = ['--pack-destination', output, '--loglevel', 'warn'];
  run('npm', ['pack', ...publishedWorkspaces.flatMap((name) => ['--workspace', name]), ...packOptions]);
  report('bill of materials');
  const bill: unknown = JSON.parse(run('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], true));
  const released = keepComponents(bill, await listReleasedComponents());
  await writeFile(join(output, `mandate-${version}.cdx.json`), `${JSON.stringify(released, null, 2)}\n`);
  report('Python package');
  run('npm', ['run', '-s', 'build']);
  const { sdist, wheel } = await buildPythonPackage(output, version);
  const files = await readdir(output);
  for (const file of [sdist, wheel]) if (!files.includes(file)) throw new ReleaseError(`the Python build did not write ${file}`);
  return publishedWorkspaces.map((name) => {
    const file = files.find((each) => each === `mandate-${name}-${version}.tgz`);
    if (file === undefined) throw new ReleaseError(`npm pack did not write version ${version} of ${name}`);
    return join(output, file);
  });
}

/**
 * Publishes the packages, and checks that npm reports their names and versions. With an explicit tag, the dry run does not depend on the
 * contents of the registry.
 */
function publish(files: readonly string[], version: string, dryRun: boolean): void {
  for (const [at, file] of files.entries()) {
    report(`publish ${file.slice(root.length + 1)}${dryRun ? ' (dry run)' : ''}`);
    const reported = run('npm', ['publish', file, '--tag', 'latest', ...(dryRun ? ['--dry-run'] : [])], true).trim();
    process.stdout.write(`${reported}\n`);
    const expected = `+ @mandate/${publishedWorkspaces[at]}@${version}`;
    if (!reported.split('\n').includes(expected)) throw new ReleaseError(`npm did not report "${expected}" for ${file}`);
  }
}

async function assertPublishable(): Promise<void> {
  const { repository } = await readManifest(root);
  if (new URL(repository?.url.replace(/^git\+/, '') ?? 'https://mandate.example').hostname.endsWith('.example'))
    throw new ReleaseError('set the real repository and homepage in package.json and in the manifests of the published workspaces');
  if (run('git', ['status', '--porcelain'], true).trim() !== '') throw new ReleaseError('commit all changes first');
}

/** Replaces the version in all manifests and in the lockfile, including the dependencies between workspaces. */
async function setVersion(version: string): Promise<void> {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new ReleaseError(`${version} is not a version such as 0.2.0`);
  const { version: previous = '', workspaces } = await readManifest(root);
  const names = await Promise.all(workspaces.map(async (folder) => (await readManifest(root, folder)).name));
  const own = new RegExp(`("(?:${names.join('|')})": )"${previous.replaceAll('.', String.raw`\.`)}"`, 'g');
  for (const folder of ['', ...workspaces]) {
    const file = join(root, folder, 'package.json');
    const text = (await readFile(file, 'utf8')).replace(`"version": "${previous}"`, `"version": "${version}"`);
    await writeFile(file, text.replaceAll(own, `$1"${version}"`));
  }
  run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund']);
  run('npm', ['run', '-s', 'lockfile']);
  process.stdout.write(`All workspaces have version ${version}. Next: the steps in CONTRIBUTING.md#release\n`);
}

const { values } = parseArgs({
  options: { short: { type: 'boolean' }, publish: { type: 'boolean' }, 'set-version': { type: 'string' } },
});

async function release(): Promise<void> {
  if (values['set-version'] !== undefined) return setVersion(values['set-version']);
  if (values.publish) await assertPublishable();
  await checkRelease();
  if (values.short) return;
  const { version = '' } = await readManifest(root);
  const files = await buildRelease(version);
  publish(files, version, !values.publish);
  report(`version ${version} is in dist/release. Build the image with: docker build --file deploy/Dockerfile --tag mandate:${version} .`);
}

try {
  await release();
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
