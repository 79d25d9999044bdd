/**
 * `node packaging/replace-manifest-for-npm-or-restore.ts publish WORKSPACE` replaces the manifest of `contract` or `server` with the
 * published version, which refers to the compiled files. After packing, `restore WORKSPACE` restores the manifest and removes the compiled
 * files.
 */
import { rm } from 'node:fs/promises';
import { copiedPackages } from './copied-packages.ts';
import {
  readPackageManifest,
  replacePackageManifest,
  restoreReplacedPackageManifest,
  type PackageManifest,
} from '../client-sdk/package/replace-package-manifest.ts';

type SourceManifest = PackageManifest & {
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
};

/**
 * Only the published manifests contain this field. `npm ci` in the repository would print a warning, although it installs the required
 * Node.js version.
 */
const engines = { node: '>=22.18' };

async function publish(folder: URL, workspace: string): Promise<void> {
  const { exports, scripts: _scripts, dependencies = {}, ...rest } = await readPackageManifest<SourceManifest>(folder);
  const published = Object.entries(exports).map(([name, file]) => [name, compiledFile(file)] as const);
  await replacePackageManifest(folder, {
    ...rest,
    dependencies: Object.fromEntries(
      Object.entries(dependencies).filter(([name]) => !Object.hasOwn(copiedPackages[workspace] ?? {}, name)),
    ),
    exports: { ...Object.fromEntries(published), './package.json': './package.json' },
    engines,
  });
}

/** Returns the compiled file and the declaration of an entry point. In a path, `*` stands for any module. */
function compiledFile(source: string): string | { readonly types: string; readonly default: string } {
  const path = source.replace(/^\.\//, './dist/');
  if (path.endsWith('.json')) return path;
  const name = path.replace(/\.ts$/, '');
  return { types: `${name}.d.ts`, default: `${name}.js` };
}

const [, , action, workspace = ''] = process.argv;
const folder = new URL(`../${workspace}/`, import.meta.url);
if (action === 'publish') await publish(folder, workspace);
else {
  await restoreReplacedPackageManifest(folder);
  await rm(new URL('dist', folder), { recursive: true, force: true });
}
