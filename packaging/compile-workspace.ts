/**
 * `node packaging/compile-workspace.ts WORKSPACE` compiles `contract` or `server` for publishing. The workspace's `dist` folder then
 * contains JavaScript, declarations, source maps, and all other files that the code reads. Only published packages need compiled files; in
 * the repository, Node.js runs the sources.
 */
import { spawnSync } from 'node:child_process';
import { cp, glob, mkdir, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { copiedPackages } from './copied-packages.ts';
import { readPackageManifest } from '../client-sdk/package/replace-package-manifest.ts';

const root = join(import.meta.dirname, '..');

/** Files of a workspace that are not copied, because they are compiled, are elsewhere in the published package, or are not needed there. */
const notCopied = /^(bin|baseline|dist|node_modules)(\/|$)|\.ts$|^(LICENSE|README\.md|package\.json.*|.*\.tgz)$/;

async function compileWorkspace(workspace: string): Promise<void> {
  const [source, output] = [join(root, workspace), join(root, workspace, 'dist')];
  await mkdir(join(root, 'node_modules/.cache'), { recursive: true });
  const compiled = await mkdtemp(join(root, 'node_modules/.cache/mandate-compiled-'));
  try {
    runCompiler(workspace, compiled);
    await rm(output, { recursive: true, force: true });
    await rename(join(compiled, workspace), output);
  } finally {
    await rm(compiled, { recursive: true, force: true });
  }
  for await (const file of glob('**/*.{js,d.ts}', { cwd: output })) await rewriteFileNames(join(output, file), file.endsWith('.js'));
  await copyAssets(source, output);
  await copyPackages(workspace, output);
  if (workspace === 'server') await copyConsole(join(output, 'console/files'));
  await writeFile(join(output, 'package.json'), `${JSON.stringify(await createInnerManifest(source), null, 2)}\n`);
}

function runCompiler(workspace: string, output: string): void {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const project = join(import.meta.dirname, `tsconfig.${workspace}.json`);
  const { status } = spawnSync(process.execPath, [compiler, '-p', project, '--outDir', output], { stdio: 'inherit' });
  if (status !== 0) throw new Error('tsc could not compile the packages');
}

/**
 * Changes `.ts` to `.js` in the imports of declaration files, and in the URLs from which code starts threads and processes. The compiler
 * changes only the imports of code.
 */
async function rewriteFileNames(path: string, isCode: boolean): Promise<void> {
  const text = await readFile(path, 'utf8');
  const pattern = isCode
    ? /(new URL\((?:'[^']+|"[^"]+))\.ts(?=['"], import\.meta\.url\))/g
    : /((?:from |import\()['"]\.{1,2}\/[^'"]+)\.ts(?=['"])/g;
  const rewritten = text.replaceAll(pattern, '$1.js');
  if (isCode && /\bnew URL\([^)]*\.ts['"`]/.test(rewritten)) throw new Error(`${path} starts a TypeScript file`);
  if (rewritten !== text) await writeFile(path, rewritten);
}

async function copyAssets(source: string, output: string): Promise<void> {
  const files = glob('**/*', { cwd: source, withFileTypes: true, exclude: (entry) => entry.name === 'node_modules' });
  for await (const entry of files) {
    const file = join(entry.parentPath, entry.name)
      .slice(source.length + 1)
      .replaceAll('\\', '/');
    if (!entry.isFile() || notCopied.test(file)) continue;
    await mkdir(dirname(join(output, file)), { recursive: true });
    await cp(join(source, file), join(output, file));
  }
}

async function copyPackages(workspace: string, output: string): Promise<void> {
  for (const [name, { from, to, except }] of Object.entries(copiedPackages[workspace] ?? {})) {
    const folder = join(root, 'node_modules', name);
    await cp(join(folder, from), join(output, to), { recursive: true, filter: (path) => !except.test(path) });
    await writeFile(join(output, to, 'package.json'), `${JSON.stringify(await createCopiedManifest(folder), null, 2)}\n`);
  }
}

/** Copies the built console. The console's assets are compressed, because the server sends compressed assets to browsers. */
async function copyConsole(output: string): Promise<void> {
  const built = join(root, 'console/dist');
  await mkdir(join(output, 'assets'), { recursive: true });
  for (const name of ['manifest.json', 'licenses.md']) await cp(join(built, name), join(output, name));
  for (const name of await readdir(join(built, 'assets')))
    await writeFile(join(output, 'assets', `${name}.gz`), gzipSync(await readFile(join(built, 'assets', name)), { level: 9 }));
}

/**
 * Returns a manifest with the origin and the license of a copied package. The entry points and dependencies of the package do not apply to
 * the copy.
 */
async function createCopiedManifest(folder: string): Promise<object> {
  const { name, version, description, author, license, homepage, repository, type } = await readPackageManifest(
    pathToFileURL(`${folder}/`),
  );
  return { name, version, description, author, license, homepage, repository, type };
}

/**
 * Returns the manifest from which the compiled files read the version and the optional packages. Like the sources, the compiled files read
 * `../package.json`.
 */
async function createInnerManifest(source: string): Promise<object> {
  const { type, version, peerDependencies } = await readPackageManifest(pathToFileURL(`${source}/`));
  return { type, version, peerDependencies };
}

await compileWorkspace(process.argv[2] ?? '');
