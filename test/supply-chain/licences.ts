/** `npm run licences > docs/licences.md`: what the packages that run in production are licensed under. */
import { lockedPackages, nameOf, productionPackages, type LockedPackage } from './production-packages.ts';

/** Licences that ask for no more than to be named. */
const allowed = new Set(['MIT', 'MIT-0', 'ISC', 'Apache-2.0', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'Unlicense']);

/** Whether an SPDX expression can be met: of `OR` one, of `AND` each. */
export function isAllowed(expression: string): boolean {
  const bare = expression.replaceAll(/[()]/g, '');
  return bare.split(' OR ').some((choice) => choice.split(' AND ').every((licence) => allowed.has(licence.trim())));
}

export function refused(packages: ReadonlyMap<string, LockedPackage>): string[] {
  return [...packages]
    .filter(([, { license = '' }]) => !isAllowed(license))
    .map(([path, { license = 'none named' }]) => `${path}: ${license}`);
}

/** The list as it stands in `docs/licences.md`. */
export function listed(packages: ReadonlyMap<string, LockedPackage>): string {
  const rows = [...packages].map(([path, { name = nameOf(path), version = '', license = '' }]) => ({ name, version, license }));
  const lines = rows.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`);
  const counts = Map.groupBy(rows, ({ license }) => license);
  const sums = [...counts].toSorted(([, a], [, b]) => b.length - a.length).map(([license, all]) => `${license} (${all.length})`);
  return [
    '# Licences',
    '',
    `The ${lines.length} packages that the server, the client and the command line run with, as their authors license them: ${sums.join(', ')}.`,
    'Written by `npm run licences > docs/licences.md`; a test fails when it is out of date, or a licence is not on the list of `test/supply-chain/licences.ts`.',
    'What only builds and tests is not among them; `npm run -s sbom` names it all.',
    '',
    '| package | version | licence |',
    '|---|---|---|',
    ...new Set(lines.toSorted()),
    '',
  ].join('\n');
}

if (import.meta.main) process.stdout.write(listed(productionPackages(await lockedPackages())));
