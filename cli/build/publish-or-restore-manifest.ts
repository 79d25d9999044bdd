import { readdir } from 'node:fs/promises';
import {
  readPackageManifest,
  replacePackageManifest,
  restoreReplacedPackageManifest,
} from '../../client-sdk/package/replace-package-manifest.ts';

const folder = new URL('../', import.meta.url);

/** Added only when publishing. In the repository, `npm ci` would print a warning, although it installs the required Node.js. */
const engines = { node: '>=22.18' };

/** The man pages, listed individually because npm installs only listed files. */
const manPages = async (): Promise<string[]> =>
  (await readdir(new URL('dist/man/', folder))).toSorted().map((file) => `./dist/man/${file}`);

await (process.argv[2] === 'publish'
  ? replacePackageManifest(folder, { ...(await readPackageManifest(folder)), engines, man: await manPages() })
  : restoreReplacedPackageManifest(folder));
