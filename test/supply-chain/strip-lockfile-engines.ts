/**
 * `npm run lockfile`, after packages have changed: removes the `engines` of all packages from the lockfile. `npm ci` reads them there, and on
 * Node 20 would warn of each package that the project runs with the Node it installs. Published packages keep theirs in package.json.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from './production-packages.ts';

const path = join(root, 'package-lock.json');
const withoutEngines = (key: string, value: unknown): unknown => (key === 'engines' ? undefined : value);
const lockfile: unknown = JSON.parse(await readFile(path, 'utf8'));
await writeFile(path, `${JSON.stringify(lockfile, withoutEngines, 2)}\n`);
