import { spawnSync } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { readEntryPoints } from './replace-manifest-for-npm-or-restore.ts';

const root = join(import.meta.dirname, '..');
const output = join(root, 'dist');

/** Compiles each source to a separate file, so that bundlers can drop unused files, and all entry points share one copy of each class. */
async function writeJavaScript(entries: string[], format: 'esm' | 'cjs'): Promise<string[]> {
  const extension = format === 'esm' ? '.js' : '.cjs';
  const result = await build({
    entryPoints: entries,
    outdir: output,
    outbase: root,
    bundle: true,
    format,
    outExtension: { '.js': extension },
    platform: 'neutral',
    target: 'es2022',
    external: ['oauth4webapi', 'msw', 'react', 'node:*'],
    plugins: [keepRelativeImports(extension)],
    metafile: true,
  });
  return Object.keys(result.metafile.outputs);
}

/** Marks relative imports as external and replaces their extension. */
const keepRelativeImports = (extension: string): Plugin => ({
  name: 'keep relative imports',
  setup(bundler) {
    bundler.onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path, importer, kind }) =>
      kind === 'entry-point' || !importer.startsWith(root) ? undefined : { path: path.replace(/\.ts$/, extension), external: true },
    );
  },
});

function writeDeclarations(): void {
  const compiler = join(root, '../node_modules/.bin/tsc');
  const { status } = spawnSync(compiler, ['-p', import.meta.dirname], { stdio: 'inherit' });
  if (status !== 0) throw new Error('tsc could not write the declarations');
}

/** Replaces the `.ts` extensions of imports in declarations, and writes separate declarations for CommonJS. */
async function writeModuleDeclarations(): Promise<void> {
  const files = (await readdir(output, { recursive: true })).filter((name) => name.endsWith('.d.ts'));
  for (const name of files) {
    const path = join(output, name);
    // Before TypeScript 5.7, Uint8Array had no type parameter.
    const text = (await readFile(path, 'utf8')).replaceAll('Uint8Array<ArrayBuffer>', 'Uint8Array');
    const withExtension = (extension: string): string =>
      text.replaceAll(/(from '\.{1,2}\/[^']+|import\('\.{1,2}\/[^']+)\.ts'/g, `$1${extension}'`);
    await writeFile(path.replace(/\.d\.ts$/, '.d.cts'), withExtension('.cjs'));
    await writeFile(path, withExtension('.js'));
  }
}

/** Removes declarations that no entry point imports, because they refer to packages that users do not have. */
async function removeUnreachableDeclarations(entries: string[]): Promise<void> {
  const reached = new Set<string>();
  const visit = async (path: string): Promise<void> => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const [, specifier = ''] of (await readFile(path, 'utf8')).matchAll(/(?:from|import\() ?'(\.{1,2}\/[^']+)'/g)) {
      await visit(join(dirname(path), specifier.replace(/\.(c?)js$/, '.d.$1ts')));
    }
  };
  for (const entry of entries) {
    const path = join(output, relative(root, entry).replace(/\.ts$/, ''));
    await visit(`${path}.d.ts`);
    await visit(`${path}.d.cts`);
  }
  const written = (await readdir(output, { recursive: true })).filter((name) => /\.d\.c?ts$/.test(name)).map((name) => join(output, name));
  for (const path of written) if (!reached.has(path)) await rm(path);
}

/** Returns all source files that the entry points import, directly or indirectly. */
async function sourcesOf(entries: string[]): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: entries,
    bundle: true,
    write: false,
    outdir: output,
    packages: 'external',
    platform: 'neutral',
    metafile: true,
  });
  return Object.keys(metafile.inputs)
    .map((path) => join(process.cwd(), path))
    .filter((path) => path.startsWith(root));
}

await rm(output, { recursive: true, force: true });
const entries = (await readEntryPoints()).map((source) => join(root, source));
const sources = await sourcesOf(entries);
await writeJavaScript(sources, 'esm');
await writeJavaScript(sources, 'cjs');
writeDeclarations();
await writeModuleDeclarations();
await removeUnreachableDeclarations(entries);
