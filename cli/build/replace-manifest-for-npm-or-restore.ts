import { readdir } from 'node:fs/promises';
import {
  readPackageManifest,
  replacePackageManifest,
  restoreReplacedPackageManifest,
} from '../../client-sdk/package/replace-package-manifest.ts';

const folder = new URL('../', import.meta.url);

/**
 * The `engines` field of the published manifest. In the repository, this field would make `npm ci` print a warning on older Node.js
 * versions, although `npm ci` itself installs the Node.js version that the repository requires.
 */
const engines = { node: '>=22.18' };

/** The man pages, listed individually because npm installs only listed files. */
const manPages = async (): Promise<string[]> =>
  (await readdir(new URL('dist/man/', folder))).toSorted().map((file) => `./dist/man/${file}`);

await (process.argv[2] === 'publish'
  ? replacePackageManifest(folder, { ...(await readPackageManifest(folder)), engines, man: await manPages() })
  : restoreReplacedPackageManifest(folder));
