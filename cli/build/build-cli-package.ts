import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { isRecord } from '../schema/find-schema-violations.ts';
import { writeManPages } from './write-man-pages.ts';

const directory = fileURLToPath(new URL('../', import.meta.url));
const dist = join(directory, 'dist');

/**
 * Names of the separate bundles, by source file. A module has a separate bundle if it is slow to load and few commands need it. All other
 * modules share one bundle, because one large file loads faster than several small ones.
 */
const lazyBundles: Readonly<Record<string, string>> = {
  'run-command-line.ts': 'run',
  'completion/find-and-render-completions.ts': 'complete',
  'terminal/open-browser.ts': 'open-browser',
  'output/load-jq.ts': 'jq',
  'environment/system-keyring.ts': 'keyring',
  'mcp/serve-mcp-over-stdio.ts': 'serve-mcp',
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

/** Loads `node:http` and `node:https` on first use. Importing these modules also loads all their dependencies, including Node's `fetch`. */
const lazyNodeHttp: Plugin = {
  name: 'lazy-node-http',
  setup: (bundle) => {
    bundle.onResolve({ filter: /^node:https?$/ }, ({ path }) => ({ path, namespace: 'lazy-node-http' }));
    bundle.onLoad({ filter: /./, namespace: 'lazy-node-http' }, ({ path }) => ({
      contents: ['request', 'get', 'createServer']
        .map((name) => `export const ${name} = (...args) => process.getBuiltinModule('${path}').${name}(...args);`)
        .join('\n'),
    }));
  },
};

/** Writes the published package to `dist`, bundled with all its dependencies. */
async function buildPackage(): Promise<void> {
  await rm(dist, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: directory,
    entryPoints: { main: 'main.ts', ...Object.fromEntries(Object.entries(lazyBundles).map(([source, name]) => [name, source])) },
    outdir: dist,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.18',
    minify: true,
    metafile: true,
    plugins: [separateLazyBundles, lazyNodeHttp],
    inject: ['http/minimal-headers-class.ts'],
    // The package contains a native module, which cannot be bundled.
    external: ['@napi-rs/keyring'],
    conditions: ['mandate-source'],
    legalComments: 'none',
    // Bundled CommonJS modules call `require` to load Node's built-in modules.
    banner: { js: "import { createRequire as requireOf } from 'node:module';const require = requireOf(import.meta.url);" },
  });
  await writeFile(join(dist, 'THIRD-PARTY-LICENSES.txt'), await collectLicenses(Object.keys(metafile.inputs)));
  await writeManPages(join(dist, 'man'));
}

/** Returns the license texts of the packages that contain these files. */
async function collectLicenses(files: readonly string[]): Promise<string> {
  const packages = new Set(files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []));
  const texts = await Promise.all(
    [...packages].toSorted().map(async (path) => {
      const root = join(directory, path);
      const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
      const [name, version, license] = ['name', 'version', 'license'].map((key) => (isRecord(manifest) ? String(manifest[key]) : ''));
      const file = (await readdir(root)).find((entry) => /^licen[cs]e/i.test(entry));
      return `${name} ${version} (${license})\n\n${file === undefined ? '' : await readFile(join(root, file), 'utf8')}`;
    }),
  );
  texts.push(`jq, included in jq-wasm (MIT)\n\n${await readFile(join(directory, 'build/jq-license.txt'), 'utf8')}`);
  return texts.join(`\n${'-'.repeat(80)}\n`);
}

await buildPackage();
