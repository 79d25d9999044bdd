import { readFile, rename, writeFile } from 'node:fs/promises';

/** In the repository the package runs from its sources; what is published runs from `dist`. */
const manifest = new URL('../package.json', import.meta.url);
const aside = new URL('../package.json.source', import.meta.url);

type Manifest = Readonly<Record<string, unknown>> & { readonly exports: Readonly<Record<string, string>> };

async function readManifest(): Promise<Manifest> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own file
  return JSON.parse(await readFile(manifest, 'utf8')) as Manifest;
}

/** The sources that users import, such as `./index.ts`. */
export const entryPoints = async (): Promise<string[]> => Object.values((await readManifest()).exports);

async function publish(): Promise<void> {
  const { exports, devDependencies: _dev, scripts: _scripts, dependencies: _all, ...rest } = await readManifest();
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
  };
  await rename(manifest, aside);
  await writeFile(manifest, `${JSON.stringify(content, null, 2)}\n`);
}

if (import.meta.main) await (process.argv[2] === 'publish' ? publish() : rename(aside, manifest));
