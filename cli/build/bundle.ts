import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { isObject } from '../contract-commands/schema-violations.ts';
import { writeManPages } from './write-man-pages.ts';

const directory = fileURLToPath(new URL('../', import.meta.url));
const dist = join(directory, 'dist');

/**
 * The modules that get a bundle each, by their source file: few commands need them, and they are slow to load. All other modules are in one bundle,
 * because each further file that a command loads costs more time than it saves.
 */
const lazyBundles: Readonly<Record<string, string>> = {
  'run.ts': 'run',
  'completion/completion-candidates.ts': 'complete',
  'terminal/open-browser.ts': 'open-browser',
  'output/load-jq.ts': 'jq',
  'sign-in/system-keyring.ts': 'keyring',
  'mcp/serve.ts': 'serve-tools',
  '@mandate/client-sdk/authorization/node': 'loopback',
};

const separateLazyBundles: Plugin = {
  name: 'separate lazy bundles',
  setup: (bundle) =>
    bundle.onResolve({ filter: /./ }, ({ path, kind, resolveDir }) => {
      if (kind !== 'dynamic-import') return undefined;
      const name = lazyBundles[path.startsWith('.') ? relative(directory, join(resolveDir, path)) : path];
      return name === undefined ? undefined : { path: `./${name}.js`, external: true };
    }),
};

/** Importing these modules loads everything they give access to, the platform's `fetch` included: they are loaded when they are used. */
const whenUsed: Plugin = {
  name: 'when-used',
  setup: (bundle) => {
    bundle.onResolve({ filter: /^node:https?$/ }, ({ path }) => ({ path, namespace: 'when-used' }));
    bundle.onLoad({ filter: /./, namespace: 'when-used' }, ({ path }) => ({
      contents: ['request', 'get', 'createServer']
        .map((name) => `export const ${name} = (...given) => process.getBuiltinModule('${path}').${name}(...given);`)
        .join('\n'),
    }));
  },
};

/** Writes to `dist` what is published, with everything in it that it needs. */
async function buildPackage(): Promise<void> {
  await rm(dist, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: directory,
    entryPoints: { main: 'main.ts', ...Object.fromEntries(Object.entries(lazyBundles).map(([source, name]) => [name, source])) },
    outdir: dist,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minify: true,
    metafile: true,
    plugins: [separateLazyBundles, whenUsed],
    inject: ['http/minimal-headers.ts'],
    // a native module, which no bundle can hold
    external: ['@napi-rs/keyring'],
    conditions: ['mandate-source'],
    legalComments: 'none',
    // for what is bundled and still asks for Node's modules by `require`
    banner: { js: "import { createRequire as requireOf } from 'node:module';const require = requireOf(import.meta.url);" },
  });
  await writeFile(join(dist, 'THIRD-PARTY-LICENSES.txt'), await licencesOf(Object.keys(metafile.inputs)));
  await writeManPages(join(dist, 'man'));
}

/** The licences of the packages that these files are from. */
async function licencesOf(files: readonly string[]): Promise<string> {
  const packages = new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  const texts = await Promise.all(
    [...packages].toSorted().map(async (path) => {
      const root = join(directory, path);
      const told: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
      const [name, version, license] = ['name', 'version', 'license'].map((key) => (isObject(told) ? String(told[key]) : ''));
      const file = (await readdir(root)).find((entry) => /^licen[cs]e/i.test(entry));
      return `${name} ${version} (${license})\n\n${file === undefined ? '' : await readFile(join(root, file), 'utf8')}`;
    }),
  );
  texts.push(`jq, as part of jq-wasm (MIT)\n\n${await readFile(join(directory, 'build/jq-license.txt'), 'utf8')}`);
  return texts.join(`\n${'-'.repeat(80)}\n`);
}

await buildPackage();
