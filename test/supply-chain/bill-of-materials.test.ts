import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { keepComponents, listReleasedComponents, type BillOfMaterials } from '../../packaging/bill-of-materials.ts';
import {
  readLockedPackages,
  packageNameFromPath,
  findProductionPackages,
  repositoryRoot,
} from '../../packaging/locked-and-production-packages.ts';
import { publishedWorkspaces, readManifest } from '../../packaging/release-checks.ts';

let bill: BillOfMaterials;
beforeAll(async () => {
  const argv = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const { stdout } = await promisify(execFile)('npm', argv, { cwd: repositoryRoot, maxBuffer: 2 ** 28 });
  bill = keepComponents(JSON.parse(stdout), await listReleasedComponents());
}, 120_000);

const listReferences = (): string[] => bill.components.map((component) => component['bom-ref']);

test.each(publishedWorkspaces)('the bill of materials lists %s and its dependencies', async (folder) => {
  const { name, version, dependencies } = await readManifest(repositoryRoot, folder);
  const expected = Object.entries({ ...dependencies, [name]: version }).map((entry) => entry.join('@'));
  expect(listReferences()).toEqual(expect.arrayContaining(expected));
});

test('the bill of materials lists no package that only development needs', async () => {
  const all = await readLockedPackages();
  const needed = new Set(Array.from(findProductionPackages(all).keys(), packageNameFromPath));
  const { devDependencies } = await readManifest(repositoryRoot);
  const unneeded = Object.keys(devDependencies).filter((name) => !needed.has(name));
  expect(unneeded).toEqual(expect.arrayContaining(['oxlint', 'playwright-core', 'vitest']));
  const names = new Set(listReferences().map((reference) => reference.slice(0, reference.lastIndexOf('@'))));
  expect(unneeded.filter((name) => names.has(name))).toEqual([]);
  expect([...names].filter((name) => /storefront|bff|node-linux/.test(name))).toEqual([]);
});

test('every dependency in the bill of materials is one of its components', () => {
  const references = new Set(listReferences());
  const related = bill.dependencies.flatMap(({ dependsOn }) => dependsOn);
  expect(related.length).toBeGreaterThan(100);
  expect(related.filter((reference) => !references.has(reference))).toEqual([]);
  expect(bill.metadata.component.name).toBe('mandate');
});

test('a bill of materials that lacks a released package is rejected', () => {
  const component = { 'bom-ref': 'mandate@1.0.0', name: 'folder' };
  const given = { metadata: { component }, components: [{ 'bom-ref': 'a@1.0.0' }, { 'bom-ref': 'b@1.0.0' }], dependencies: [] };
  expect(keepComponents(given, new Set(['a@1.0.0'])).components).toEqual([{ 'bom-ref': 'a@1.0.0' }]);
  expect(() => keepComponents(given, new Set(['a@1.0.0', 'express@5.3.0']))).toThrow('lacks express@5.3.0');
});
