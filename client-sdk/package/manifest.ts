import { readManifest, replaceManifest, restoreManifest, type Manifest } from './published-manifest.ts';

/** In the repository the package runs from its sources; what is published runs from `dist`. */
const folder = new URL('../', import.meta.url);

type SourceManifest = Manifest & { readonly exports: Readonly<Record<string, string>> };

/** Not in the repository, where `npm ci` would warn of it: there the project runs with the Node that it installs. */
const engines = { node: '>=22.18' };

/** The sources that users import, such as `./index.ts`. */
export const entryPoints = async (): Promise<string[]> => Object.values((await readManifest<SourceManifest>(folder)).exports);

async function publish(): Promise<void> {
  const { exports, devDependencies: _dev, scripts: _scripts, dependencies: _all, ...rest } = await readManifest<SourceManifest>(folder);
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
    engines,
  };
  await replaceManifest(folder, content);
}

if (import.meta.main) await (process.argv[2] === 'publish' ? publish() : restoreManifest(folder));
