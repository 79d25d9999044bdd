/**
 * `npm run lockfile` removes all `engines` from the lockfile. Run the command after each dependency change. Otherwise, `npm ci` on Node 20
 * warns about packages that require a newer version, although the project runs them with its installed Node 24. Published packages keep
 * their `engines` in package.json.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repositoryRoot } from '../../packaging/locked-and-production-packages.ts';

const path = join(repositoryRoot, 'package-lock.json');
const withoutEngines = (key: string, value: unknown): unknown => (key === 'engines' ? undefined : value);
const lockfile: unknown = JSON.parse(await readFile(path, 'utf8'));
await writeFile(path, `${JSON.stringify(lockfile, withoutEngines, 2)}\n`);
