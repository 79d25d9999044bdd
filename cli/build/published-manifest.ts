import { readdir } from 'node:fs/promises';
import { readManifest, replaceManifest, restoreManifest } from '../../client-sdk/package/published-manifest.ts';

const folder = new URL('../', import.meta.url);

/** Not in the repository, where `npm ci` would warn of it: there the project runs with the Node that it installs. */
const engines = { node: '>=24' };

/** Listed one by one: npm installs no others. */
const manPages = async (): Promise<string[]> =>
  (await readdir(new URL('dist/man/', folder))).toSorted().map((file) => `./dist/man/${file}`);

await (process.argv[2] === 'publish'
  ? replaceManifest(folder, { ...(await readManifest(folder)), engines, man: await manPages() })
  : restoreManifest(folder));
