/** Checks the release files that `npm run release` has written. CI runs this command before the tests. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { listReleasedComponents } from '../../packaging/bill-of-materials.ts';
import { publishedWorkspaces, readManifest } from '../../packaging/release-checks.ts';
import { repositoryRoot } from './pack-and-install.ts';

const bill = z.object({ bomFormat: z.literal('CycloneDX'), components: z.array(z.object({ 'bom-ref': z.string() })) });

describe.skipIf(process.env['MANDATE_RELEASE_DIRECTORY'] === undefined)('the release', async () => {
  const directory = join(repositoryRoot, process.env['MANDATE_RELEASE_DIRECTORY'] ?? '');
  const { version } = await readManifest(repositoryRoot);

  test('contains the npm packages, the Python package and a bill of materials', async () => {
    const packages = publishedWorkspaces.map((name) => `mandate-${name}-${version}.tgz`);
    const python = [`mandate-client-${version}.tar.gz`, `mandate_client-${version}-py3-none-any.whl`];
    expect((await readdir(directory)).toSorted()).toEqual([...packages, ...python, `mandate-${version}.cdx.json`].toSorted());
  });

  test('has a bill of materials with the released packages and their dependencies, and nothing else', async () => {
    const { components } = bill.parse(JSON.parse(await readFile(join(directory, `mandate-${version}.cdx.json`), 'utf8')));
    const references = components.map((component) => component['bom-ref']);
    const { dependencies } = await readManifest(repositoryRoot, 'server');
    expect(references).toEqual(expect.arrayContaining(Object.entries(dependencies).map((entry) => entry.join('@'))));
    expect(references.toSorted()).toEqual([...(await listReleasedComponents())].toSorted());
    expect(references.filter((reference) => /^(?:vitest|oxlint|playwright-core)@/.test(reference))).toEqual([]);
  });
});
