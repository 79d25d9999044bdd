import {
  readPackageManifest,
  replacePackageManifest,
  restoreReplacedPackageManifest,
  type PackageManifest,
} from './replace-package-manifest.ts';

/** Folder of the package. In the repository, the package runs from its sources; the published package runs from `dist`. */
const folder = new URL('../', import.meta.url);

type SourceManifest = PackageManifest & { readonly exports: Readonly<Record<string, string>> };

/**
 * The `engines` field of the published manifest. In the repository, this field would make `npm ci` print a warning on older Node.js
 * versions, although `npm ci` itself installs the Node.js version that the repository requires.
 */
const engines = { node: '>=20.19' };

/**
 * Peer dependencies of the published manifest. The manifest in the repository omits these dependencies, because a production installation
 * of the server would otherwise include them.
 */
const peerDependencies = { msw: '>=2', react: '>=18' };
const peerDependenciesMeta = { msw: { optional: true }, react: { optional: true } };

/** Returns the source files of the entry points, such as `./index.ts`. */
export const readEntryPoints = async (): Promise<string[]> => Object.values((await readPackageManifest<SourceManifest>(folder)).exports);

/** Replaces the manifest with the published version. */
async function publish(): Promise<void> {
  const {
    exports,
    devDependencies: _dev,
    scripts: _scripts,
    dependencies: _all,
    ...rest
  } = await readPackageManifest<SourceManifest>(folder);
  const conditions: Record<string, unknown> = { './package.json': './package.json' };
  for (const [name, source] of Object.entries(exports)) {
    const file = `./dist/${source.slice(2).replace(/\.ts$/, '')}`;
    const esm = { types: `${file}.d.ts`, default: `${file}.js` };
    conditions[name] = { import: esm, require: { types: `${file}.d.cts`, default: `${file}.cjs` } };
  }
  const dependencies = { oauth4webapi: '^3.8.8' };
  const content = {
    ...rest,
    files: ['dist'],
    exports: conditions,
    dependencies,
    peerDependencies,
    peerDependenciesMeta,
    engines,
  };
  await replacePackageManifest(folder, content);
}

if (import.meta.main) await (process.argv[2] === 'publish' ? publish() : restoreReplacedPackageManifest(folder));
